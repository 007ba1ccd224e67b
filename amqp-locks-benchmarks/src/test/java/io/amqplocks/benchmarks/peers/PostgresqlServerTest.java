package io.amqplocks.benchmarks.peers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import org.junit.jupiter.api.Test;

class PostgresqlServerTest {

  /** Each connection has a process of its own, which does the work. */
  @Test
  void theTimeOfTheProcessThatServesAConnectionCounts() throws Exception {
    try (PeerServer server = PeerLockTest.start(Peer.POSTGRESQL);
        Connection connection = DriverManager.getConnection(server.address());
        Statement statement = connection.createStatement();
        ResultSet row = statement.executeQuery("SELECT pg_backend_pid()")) {
      assertThat(row.next()).isTrue();
      assertThat(server.cpu().times()).containsKey(row.getLong(1));
    }
  }

  @Test
  void endsIfATableCannotBeCreated() {
    String says = "DO $$ BEGIN RAISE 'It is in %', current_setting('data_directory'); END $$";
    Throwable failure = catchThrowable(() -> PostgresqlServer.start(says));
    assumeFalse(failure instanceof NotInstalledException, "PostgreSQL is not installed");
    assertThat(failure).hasMessageContaining("It is in /");
    String folder = failure.toString().replaceAll("(?s).*It is in (\\S+).*", "$1");
    assertThat(Path.of(folder)).doesNotExist();
  }
}
