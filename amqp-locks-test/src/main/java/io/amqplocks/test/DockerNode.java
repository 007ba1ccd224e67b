package io.amqplocks.test;

import com.github.dockerjava.api.DockerClient;
import java.io.IOException;
import java.util.List;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.Container.ExecResult;
import org.testcontainers.rabbitmq.RabbitMQContainer;

/** A broker in a Docker container. The only class that knows Testcontainers. */
final class DockerNode implements NodeControl, AutoCloseable {

  private static final int AMQP = 5672;

  private final RabbitMQContainer container;
  private final int port = FreePorts.next();

  // The container is closed with this node.
  @SuppressWarnings("resource")
  DockerNode(String line) {
    // A node is its host's name.
    container =
        new RabbitMQContainer("rabbitmq:" + line)
            .withCreateContainerCmdModifier(create -> create.withHostName("amqp-locks"));
    // A port that Docker chose would be another one after every start.
    container.setPortBindings(List.of(port + ":" + AMQP));
    // Testcontainers waits until all exposed ports are bound; the image's others are of no use.
    container.setExposedPorts(List.of(AMQP));
  }

  /** For the one test that needs no engine. */
  RabbitMQContainer container() {
    return container;
  }

  Address address() {
    return Address.of(DockerClientFactory.instance().dockerHostIpAddress(), port);
  }

  @Override
  public boolean running() {
    return container.isRunning();
  }

  @Override
  public void start() {
    if (container.getContainerId() == null) {
      container.start();
    } else {
      docker().startContainerCmd(container.getContainerId()).exec();
    }
  }

  @Override
  public String eval(String expressions) {
    // The command prints the value as an Erlang term; as Base64 it has a form without surprises.
    String wrapped =
        "base64:encode(iolist_to_binary(begin "
            + expressions.replaceFirst("\\.\\s*$", "")
            + " end)).";
    try {
      ExecResult result = container.execInContainer("rabbitmqctl", "eval", wrapped);
      if (result.getExitCode() != 0) {
        throw new IllegalStateException(result.getStderr() + " on: " + expressions);
      }
      return Erlang.text(result.getStdout().replaceAll("[^A-Za-z0-9+/=]", ""));
    } catch (IOException failed) {
      throw new IllegalStateException("Cannot run rabbitmqctl", failed);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("Interrupted in rabbitmqctl", interrupted);
    }
  }

  @Override
  public void kill() {
    docker().killContainerCmd(container.getContainerId()).exec();
  }

  @Override
  public void stop() {
    docker().stopContainerCmd(container.getContainerId()).exec();
  }

  @Override
  public void freeze() {
    docker().pauseContainerCmd(container.getContainerId()).exec();
  }

  @Override
  public void thaw() {
    if (Boolean.TRUE.equals(container.getCurrentContainerInfo().getState().getPaused())) {
      docker().unpauseContainerCmd(container.getContainerId()).exec();
    }
  }

  @Override
  public void close() {
    container.stop();
  }

  private DockerClient docker() {
    return container.getDockerClient();
  }
}
