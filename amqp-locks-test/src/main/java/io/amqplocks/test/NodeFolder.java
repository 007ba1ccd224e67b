package io.amqplocks.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * The folder of one private broker, with its configuration, data, logs and Erlang cookie.
 *
 * @param installation what runs in it
 * @param path the folder
 * @param amqpPort the port of AMQP
 * @param distributionPort the port of Erlang's own protocol
 * @param epmdPort the port of this broker's own {@code epmd}
 */
record NodeFolder(
    Installation installation, Path path, int amqpPort, int distributionPort, int epmdPort) {

  static NodeFolder create(Installation installation) {
    try {
      Path path =
          Files.createTempDirectory(installation.temporary(), "amqp-locks-broker-")
              .toAbsolutePath();
      NodeFolder folder =
          new NodeFolder(installation, path, FreePorts.next(), FreePorts.next(), FreePorts.next());
      Files.writeString(path.resolve("rabbitmq.conf"), folder.configuration());
      Files.writeString(path.resolve("enabled_plugins"), "[].\n");
      Files.writeString(path.resolve("agent.erl.script"), Resources.text("agent.erl.script"));
      return folder;
    } catch (IOException failed) {
      throw new UncheckedIOException("Cannot make a folder for a broker", failed);
    }
  }

  private String configuration() {
    return """
        listeners.tcp.1 = 127.0.0.1:%d
        log.console = false
        log.file = broker.log
        disk_free_limit.absolute = 50MB
        """
        .formatted(amqpPort);
  }

  List<String> epmdCommand() {
    return installation.command(
        "epmd", "-port", Integer.toString(epmdPort), "-address", "127.0.0.1");
  }

  /** The server, as the process started itself: no shell stays in between. */
  ProcessBuilder server() {
    String script = installation.scripts().resolve("rabbitmq-server").toString();
    ProcessBuilder builder = new ProcessBuilder(installation.command(script));
    Map<String, String> environment = builder.environment();
    environment.keySet().removeIf(name -> name.matches("(RABBITMQ|ERL)_.*"));
    String home = installation.inside(path);
    environment.put("HOME", home);
    environment.put("TERM", "dumb");
    environment.put("LC_ALL", "C.UTF-8");
    environment.put("ERL_EPMD_PORT", Integer.toString(epmdPort));
    environment.put("ERL_EPMD_ADDRESS", "127.0.0.1");
    environment.put("RABBITMQ_NODENAME", "amqp-locks-" + amqpPort + "@localhost");
    environment.put("RABBITMQ_DIST_PORT", Integer.toString(distributionPort));
    environment.put("RABBITMQ_MNESIA_BASE", home + "/data");
    environment.put("RABBITMQ_LOG_BASE", home + "/log");
    environment.put("RABBITMQ_CONFIG_FILE", home + "/rabbitmq.conf");
    environment.put("RABBITMQ_ENABLED_PLUGINS_FILE", home + "/enabled_plugins");
    // Absent on purpose: those of the machine must not be read.
    environment.put("RABBITMQ_CONF_ENV_FILE", home + "/no-environment");
    environment.put("RABBITMQ_ADVANCED_CONFIG_FILE", home + "/no-advanced.config");
    // With input allowed the script becomes the server instead of watching over it.
    environment.put("RABBITMQ_ALLOW_INPUT", "true");
    environment.put(
        "RABBITMQ_SERVER_START_ARGS",
        "-noshell +B i -eval file:script(\"" + home + "/agent.erl.script\")");
    return builder.redirectErrorStream(true);
  }

  /** Tells the keeper which process to end. */
  void pid(long pid) {
    write(Long.toString(pid));
  }

  /** Tells the keeper that there is no process to end. */
  void noPid() {
    write("");
  }

  private void write(String pid) {
    try {
      Files.writeString(path.resolve("pid"), pid);
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
  }

  /** The last lines of the server's log; empty if it has none. */
  String logTail(int lines) {
    try {
      List<String> log = Files.readAllLines(path.resolve("log/broker.log"));
      return log.stream().skip(Math.max(0, log.size() - lines)).collect(Collectors.joining("\n"));
    } catch (IOException absent) {
      return "";
    }
  }
}
