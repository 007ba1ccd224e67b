package io.amqplocks.benchmarks.peers;

import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** What is installed on this machine, and which version of it. */
final class Installed {

  private static final Pattern VERSION = Pattern.compile("\\d+\\.\\d+(\\.\\d+)?");

  private Installed() {}

  /** The path of a command. */
  static String command(String name) throws NotInstalledException {
    // Where Debian has servers need not be on the PATH.
    String path = System.getenv().getOrDefault("PATH", "") + File.pathSeparator + "/usr/sbin";
    return Stream.of(path.split(File.pathSeparator, -1))
        .filter(folder -> !folder.isEmpty())
        .map(folder -> Path.of(folder, name))
        .filter(Files::isExecutable)
        .map(Path::toString)
        .findFirst()
        .orElseThrow(() -> new NotInstalledException(name + " is not installed"));
  }

  /** The first thing in what the command prints that looks like a version. */
  static String version(String... command) throws IOException {
    Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
    String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    Matcher matcher = VERSION.matcher(output);
    return matcher.find() ? matcher.group() : "of unknown version";
  }

  /** The name of the jar that has the class, without its ending: a client and its version. */
  static String jar(Class<?> type) throws URISyntaxException {
    Path jar = Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
    return jar.getFileName().toString().replace(".jar", "");
  }
}
