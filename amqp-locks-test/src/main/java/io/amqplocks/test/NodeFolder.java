package io.amqplocks.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermission;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * The folder of one private broker, with its configuration, data, logs and Erlang cookie.
 *
 * @param place what runs in it, and where
 * @param path the folder
 */
record NodeFolder(NodePlace place, Path path) {

  private static final String BEFORE = "before.erl.script";
  private static final String AGENT = "agent.erl.script";

  static NodeFolder create(NodePlace place) {
    try {
      Path path =
          Files.createTempDirectory(place.installation().temporary(), "amqp-locks-broker-")
              .toAbsolutePath();
      NodeFolder folder = new NodeFolder(place, path);
      Files.writeString(path.resolve("rabbitmq.conf"), folder.configuration());
      Files.writeString(path.resolve("enabled_plugins"), "[].\n");
      for (String script : List.of(BEFORE, AGENT)) {
        Files.writeString(path.resolve(script), Resources.text(script));
      }
      if (place.cookie() != null) {
        Path cookie = path.resolve(".erlang.cookie");
        Files.writeString(cookie, place.cookie());
        Files.setPosixFilePermissions(cookie, Set.of(PosixFilePermission.OWNER_READ));
      }
      return folder;
    } catch (IOException failed) {
      throw new UncheckedIOException("Cannot make a folder for a broker", failed);
    }
  }

  private String configuration() {
    return """
        listeners.tcp.1 = %s:%d
        log.console = false
        log.file = broker.log
        disk_free_limit.absolute = 50MB
        %s"""
        .formatted(place.host(), place.amqpPort(), place.configuration());
  }

  List<String> epmdCommand() {
    return place.command(
        "epmd", "-port", Integer.toString(place.epmdPort()), "-address", place.nodeHost());
  }

  /** The server, as the process started itself: no shell stays in between. */
  ProcessBuilder server() {
    String script = place.installation().scripts().resolve("rabbitmq-server").toString();
    ProcessBuilder builder = new ProcessBuilder(place.command(script));
    Map<String, String> environment = builder.environment();
    environment.keySet().removeIf(name -> name.matches("(RABBITMQ|ERL)_.*"));
    String home = place.installation().inside(path);
    environment.put("HOME", home);
    environment.put("TERM", "dumb");
    environment.put("LC_ALL", "C.UTF-8");
    // What dies while it starts must not leave its dump in the folder of whoever runs the tests.
    environment.put("ERL_CRASH_DUMP", home + "/erl_crash.dump");
    environment.put("ERL_EPMD_PORT", Integer.toString(place.epmdPort()));
    environment.put("ERL_EPMD_ADDRESS", place.nodeHost());
    environment.put("RABBITMQ_NODENAME", place.nodeName());
    environment.put("RABBITMQ_USE_LONGNAME", Boolean.toString(place.hasLongName()));
    environment.put("RABBITMQ_DIST_PORT", Integer.toString(place.distributionPort()));
    environment.put("RABBITMQ_MNESIA_BASE", home + "/data");
    environment.put("RABBITMQ_LOG_BASE", home + "/log");
    environment.put("RABBITMQ_CONFIG_FILE", home + "/rabbitmq.conf");
    environment.put("RABBITMQ_ENABLED_PLUGINS_FILE", home + "/enabled_plugins");
    // Absent on purpose: those of the machine must not be read.
    environment.put("RABBITMQ_CONF_ENV_FILE", home + "/no-environment");
    environment.put("RABBITMQ_ADVANCED_CONFIG_FILE", home + "/no-advanced.config");
    // By default each scheduler keeps to one processor, which would have all brokers of one thread
    // share the first.
    environment.put("RABBITMQ_SCHEDULER_BIND_TYPE", "u");
    // With input allowed the script becomes the server instead of watching over it.
    environment.put("RABBITMQ_ALLOW_INPUT", "true");
    // These come before all other arguments, so this is evaluated before the server boots.
    environment.put("ERL_AFLAGS", "-eval '" + run(home, BEFORE) + "'");
    environment.put(
        "RABBITMQ_SERVER_START_ARGS", schedulers() + "-noshell +B i -eval " + run(home, AGENT));
    return builder.redirectErrorStream(true);
  }

  private static String run(String home, String script) {
    return "file:script(\"" + home + "/" + script + "\")";
  }

  /**
   * Three nodes on a small machine are more than enough with one thread each that does not spin.
   */
  private String schedulers() {
    return place.cookie() == null ? "" : "+S 1:1 +sbwt none ";
  }

  /**
   * Tells the keeper which process to end, and when that one started: if the server ends by itself
   * its id stays here, and may become a stranger's.
   */
  void pid(long pid) {
    write(pid + " " + ProcessStart.of(pid));
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
    List<String> log = log();
    return log.stream().skip(Math.max(0, log.size() - lines)).collect(Collectors.joining("\n"));
  }

  /** The server's log; empty if it has none. */
  List<String> log() {
    try {
      byte[] log = Files.readAllBytes(path.resolve("log/broker.log"));
      return new String(log, StandardCharsets.UTF_8).lines().toList();
    } catch (IOException absent) {
      return List.of();
    }
  }
}
