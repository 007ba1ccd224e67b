package io.amqplocks.sample.kubernetes;

import io.amqplocks.sample.SampleApplication;
import io.amqplocks.sample.demo.ListeningPort;
import io.amqplocks.test.ChildJvm;
import io.amqplocks.test.ChildJvmBuilder;
import io.kubernetes.client.openapi.models.V1Container;
import io.kubernetes.client.openapi.models.V1Deployment;
import io.kubernetes.client.openapi.models.V1EnvVar;
import io.kubernetes.client.openapi.models.V1EnvVarSource;
import io.kubernetes.client.openapi.models.V1Probe;
import io.kubernetes.client.openapi.models.V1SecretKeySelector;
import java.io.IOException;
import java.net.Inet4Address;
import java.net.NetworkInterface;
import java.net.SocketException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;

/**
 * What a pod of a Deployment runs, as a process of this machine: with the variables of its
 * container and no others of its own. The test takes the part of the kubelet, which asks the probes
 * and sends the signal.
 */
final class Pod implements AutoCloseable {

  /** What the RabbitMQ Cluster Operator names the Secret of a cluster that is named rabbitmq. */
  private static final String SECRET = "rabbitmq-default-user";

  /** The kubelet's default. */
  private static final int TIMEOUT_SECONDS = 1;

  /** The kubelet's default. */
  private static final int FAILURE_THRESHOLD = 3;

  private final HttpClient kubelet = HttpClient.newHttpClient();
  private final V1Deployment deployment;
  private final ChildJvm process;
  private String address = "";

  /**
   * Starts it, and does not wait for it.
   *
   * @param name the pod's name
   * @param secret the Secret with the broker's address
   * @param arguments what is not as in the pod, because this machine is none
   */
  Pod(V1Deployment deployment, String name, Map<String, String> secret, List<String> arguments) {
    this.deployment = deployment;
    ChildJvmBuilder program =
        ChildJvm.of(SampleApplication.class)
            .jvmArgs("-Xmx192m")
            .systemProperty("java.awt.headless", "true")
            // Pods have addresses of their own, and so the same port; processes do not.
            .args("--server.port=0")
            .args(arguments.toArray(String[]::new));
    variables(Manifests.container(deployment), name, secret).forEach(program::env);
    ContainerSettings.OF_EVERY_POD.forEach(program::env);
    this.process = program.start();
  }

  /** The variables of a container, with what they refer to. */
  static Map<String, String> variables(
      V1Container container, String podName, Map<String, String> secret) {
    Map<String, String> variables = new LinkedHashMap<>();
    for (V1EnvVar variable : Objects.requireNonNull(container.getEnv())) {
      V1EnvVarSource source = variable.getValueFrom();
      variables.put(
          variable.getName(),
          source == null ? variable.getValue() : value(source, podName, secret));
    }
    return variables;
  }

  private static String value(V1EnvVarSource source, String podName, Map<String, String> secret) {
    V1SecretKeySelector key = source.getSecretKeyRef();
    if (key == null) {
      String field = Objects.requireNonNull(source.getFieldRef()).getFieldPath();
      if (!field.equals("metadata.name")) {
        throw new IllegalArgumentException("Not known here: " + field);
      }
      return podName;
    }
    if (!SECRET.equals(key.getName())) {
      throw new IllegalArgumentException("There is no Secret " + key.getName());
    }
    return Objects.requireNonNull(secret.get(key.getKey()), "no such key: " + key.getKey());
  }

  /** How long after the SIGTERM the kubelet kills its pods. */
  static Duration gracePeriod(V1Deployment deployment) {
    return Duration.ofSeconds(
        Objects.requireNonNull(Manifests.pod(deployment).getTerminationGracePeriodSeconds()));
  }

  /** Waits as long as the startup probe does, after which the kubelet would restart the pod. */
  void awaitStarted() {
    V1Probe startup = Objects.requireNonNull(container().getStartupProbe());
    Duration limit =
        Duration.ofSeconds(
            (long) Objects.requireNonNull(startup.getPeriodSeconds())
                * Objects.requireNonNull(startup.getFailureThreshold()));
    long begin = System.nanoTime();
    int port = URI.create(ListeningPort.await(process, limit)).getPort();
    address = "http://%s:%d".formatted(outside(), port);
    Awaitility.await()
        .atMost(limit.minusNanos(System.nanoTime() - begin))
        .until(() -> ask(startup) == 200);
  }

  /** Where it listens, for others than itself. */
  String address() {
    return address;
  }

  /** What it answers; a failure after as many of them in a row as the kubelet restarts it for. */
  int asksLiveness() throws InterruptedException {
    V1Probe liveness = Objects.requireNonNull(container().getLivenessProbe());
    int threshold = Objects.requireNonNullElse(liveness.getFailureThreshold(), FAILURE_THRESHOLD);
    int answer = ask(liveness);
    for (int failures = 1; failures < threshold && answer != 200; failures++) {
      // Not the probe's whole period, in which a pod that is ending may end.
      TimeUnit.SECONDS.sleep(1);
      answer = ask(liveness);
    }
    return answer;
  }

  int asksReadiness() throws InterruptedException {
    return ask(Objects.requireNonNull(container().getReadinessProbe()));
  }

  /** What the application answers; 0 if it does not in time. */
  private int ask(V1Probe probe) throws InterruptedException {
    Integer seconds = probe.getTimeoutSeconds();
    String path = Objects.requireNonNull(probe.getHttpGet()).getPath();
    HttpRequest request =
        HttpRequest.newBuilder(URI.create(address + path))
            .timeout(Duration.ofSeconds(seconds == null ? TIMEOUT_SECONDS : seconds))
            .build();
    try {
      HttpResponse<Void> response = kubelet.send(request, BodyHandlers.discarding());
      return response.statusCode();
    } catch (IOException silent) {
      return 0;
    }
  }

  /** Asks the endpoint of the locks to take the slots from their holders; what it answers. */
  int revokesSlots() throws IOException, InterruptedException {
    URI semaphore = URI.create(address + "/actuator/amqplocks/semaphore/images");
    return kubelet
        .send(HttpRequest.newBuilder(semaphore).DELETE().build(), BodyHandlers.discarding())
        .statusCode();
  }

  /** Begins to end it, as the kubelet does. */
  void terminate() {
    ProcessHandle.of(process.pid()).orElseThrow().destroy();
  }

  /** Waits for its end; empty if the kubelet would have killed it. */
  OptionalInt awaitEnd() {
    return process.exitCode(gracePeriod(deployment));
  }

  /** What it has logged. */
  List<String> log() {
    return process.lines();
  }

  @Override
  public void close() {
    process.close();
  }

  private V1Container container() {
    return Manifests.container(deployment);
  }

  /** An address of this machine that does not reach what listens to 127.0.0.1 alone. */
  private static String outside() {
    try {
      return NetworkInterface.networkInterfaces()
          .flatMap(NetworkInterface::inetAddresses)
          .filter(address -> address instanceof Inet4Address && !address.isLoopbackAddress())
          .map(address -> Objects.requireNonNull(address.getHostAddress()))
          .findFirst()
          .orElse("127.0.0.1");
    } catch (SocketException e) {
      throw new IllegalStateException(e);
    }
  }
}
