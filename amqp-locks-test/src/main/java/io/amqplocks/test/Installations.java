package io.amqplocks.test;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Finds the RabbitMQ servers installed on this machine, without starting any. */
final class Installations {

  /** Where Debian's package puts the scripts that run as any user. */
  private static final Path DEBIAN_SCRIPTS = Path.of("/usr/lib/rabbitmq/bin");

  private static final Pattern RELEASE = Pattern.compile("rabbit(?:mq_server)?-(\\d+\\.\\d+.*)");

  private Installations() {}

  /** At most one for each release line, newest first. */
  static List<Installation> find(Map<String, String> environment) {
    List<Installation> found = new ArrayList<>();
    inTestingFolder(environment).ifPresent(found::add);
    onMachine(environment).ifPresent(found::add);
    found.sort(Comparator.comparing(Installation::version).reversed());
    return found;
  }

  /** The folder that {@code bin/broker} makes; chroot is for root only, and needs the mounts. */
  private static Optional<Installation> inTestingFolder(Map<String, String> environment) {
    Path root = testingFolder(environment);
    if (!"root".equals(System.getProperty("user.name"))
        || !Files.exists(root.resolve("proc/self"))) {
      return Optional.empty();
    }
    return release(root.resolve("usr/lib/rabbitmq/lib"))
        .map(version -> new Installation(version, DEBIAN_SCRIPTS, root));
  }

  private static Path testingFolder(Map<String, String> environment) {
    String named = environment.get("AMQP_LOCKS_BROKER_ROOT");
    if (named != null && !named.isEmpty()) {
      return Path.of(named).toAbsolutePath();
    }
    String cache = environment.getOrDefault("XDG_CACHE_HOME", "");
    Path caches = cache.isEmpty() ? home(environment).resolve(".cache") : Path.of(cache);
    return caches.resolve("amqp-locks/rabbitmq-testing").toAbsolutePath();
  }

  /** As a shell sees it: Java itself asks the list of users, which sudo may contradict. */
  private static Path home(Map<String, String> environment) {
    String home = environment.getOrDefault("HOME", "");
    return Path.of(home.isEmpty() ? System.getProperty("user.home") : home);
  }

  private static Optional<Installation> onMachine(Map<String, String> environment) {
    Stream<Path> path =
        Stream.of(environment.getOrDefault("PATH", "").split(File.pathSeparator))
            .filter(entry -> !entry.isEmpty())
            .map(Path::of);
    // Debian's script on the PATH switches to the user rabbitmq: its own folder comes first.
    return Stream.concat(Stream.of(DEBIAN_SCRIPTS), path)
        .map(folder -> folder.resolve("rabbitmq-server"))
        .filter(Files::isExecutable)
        .flatMap(script -> atScript(script).stream())
        .findFirst();
  }

  private static Optional<Installation> atScript(Path script) {
    try {
      Path scripts = script.toRealPath().getParent();
      Path release = scripts == null ? null : scripts.getParent();
      if (scripts == null || release == null) {
        return Optional.empty();
      }
      return parse(String.valueOf(release.getFileName()))
          .or(() -> release(release.resolve("plugins")))
          .map(version -> new Installation(version, scripts, null));
    } catch (IOException unreadable) {
      return Optional.empty();
    }
  }

  /** The newest of the folders here that are named {@code rabbitmq_server-} or {@code rabbit-}. */
  private static Optional<BrokerVersion> release(Path folder) {
    try (Stream<Path> entries = Files.list(folder)) {
      return entries
          .flatMap(entry -> parse(String.valueOf(entry.getFileName())).stream())
          .max(Comparator.naturalOrder());
    } catch (IOException absent) {
      return Optional.empty();
    }
  }

  private static Optional<BrokerVersion> parse(String name) {
    Matcher matcher = RELEASE.matcher(name);
    return matcher.matches()
        ? Optional.of(BrokerVersion.parse(matcher.group(1)))
        : Optional.empty();
  }
}
