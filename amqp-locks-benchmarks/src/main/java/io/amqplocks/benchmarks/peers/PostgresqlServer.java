package io.amqplocks.benchmarks.peers;

import io.amqplocks.test.FreePorts;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/**
 * A PostgreSQL with its default settings, in a folder of its own. It admits more connections:
 * twelve clients with a pool of ten each need more than 100.
 */
final class PostgresqlServer {

  /** How many it may have. */
  static final int CONNECTIONS = 200;

  private static final String USER = "postgres";
  private static final String DEBIAN = "/usr/lib/postgresql";

  private PostgresqlServer() {}

  /** With these tables. */
  static PeerServer start(String... tables) throws Exception {
    Path bin = bin();
    // It refuses to run as root, and its package brings a user along.
    boolean isRoot = System.getProperty("user.name").equals("root");
    if (isRoot && !succeeds(List.of("id", USER))) {
      throw new NotInstalledException("there is no user " + USER + " that could run it");
    }
    List<String> user =
        isRoot
            ? List.of("setpriv", "--reuid=" + USER, "--regid=" + USER, "--init-groups")
            : List.of();
    ServerProcess.Folder folder = ServerProcess.folder("postgresql");
    Path data = folder.path().resolve("data");
    boolean isReady =
        (!isRoot || succeeds(List.of("chown", USER, folder.path().toString())))
            && succeeds(
                and(
                    user,
                    bin.resolve("initdb").toString(),
                    "--pgdata=" + data,
                    "--username=bench",
                    "--auth=trust",
                    "--no-sync"));
    if (!isReady) {
      boolean unused = succeeds(List.of("rm", "-rf", folder.path().toString()));
      throw new IllegalStateException("initdb failed");
    }
    int port = FreePorts.next();
    ServerProcess process =
        folder.start(
            "QUIT",
            and(
                user,
                bin.resolve("postgres").toString(),
                "-D",
                data.toString(),
                "-p",
                Integer.toString(port),
                "-c",
                "listen_addresses=127.0.0.1",
                "-c",
                "max_connections=" + CONNECTIONS,
                "-c",
                "unix_socket_directories="));
    String address = "jdbc:postgresql://127.0.0.1:" + port + "/postgres?user=bench";
    process.await(() -> DriverManager.getConnection(address).close());
    try {
      create(tables, address);
      return new PeerServer(
          "PostgreSQL " + Installed.version(bin.resolve("postgres").toString(), "--version"),
          address,
          process);
    } catch (Exception | Error e) {
      process.close();
      throw e;
    }
  }

  private static void create(String[] tables, String address) throws SQLException {
    try (Connection connection = DriverManager.getConnection(address);
        Statement statement = connection.createStatement()) {
      for (String table : tables) {
        statement.execute(table);
      }
    }
  }

  /** Of the newest release that Debian's packages have installed, else of the PATH. */
  private static Path bin() throws IOException, NotInstalledException {
    Path debian = Path.of(DEBIAN);
    if (Files.isDirectory(debian)) {
      try (Stream<Path> releases = Files.list(debian)) {
        Optional<Path> newest =
            releases
                .filter(release -> Files.isExecutable(release.resolve("bin/initdb")))
                .max(Comparator.comparingInt(PostgresqlServer::number))
                .map(release -> release.resolve("bin"));
        if (newest.isPresent()) {
          return newest.get();
        }
      }
    }
    return Path.of(Installed.command("initdb")).resolveSibling("");
  }

  private static int number(Path release) {
    return Integer.parseInt(release.getFileName().toString().replaceAll("\\D.*", ""));
  }

  private static List<String> and(List<String> user, String... command) {
    List<String> all = new ArrayList<>(user);
    all.addAll(List.of(command));
    return all;
  }

  private static boolean succeeds(List<String> command) throws IOException, InterruptedException {
    Process process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    if (process.waitFor(2, TimeUnit.MINUTES)) {
      return process.exitValue() == 0;
    }
    process.destroyForcibly();
    return false;
  }
}
