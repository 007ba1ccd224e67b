package io.amqplocks.benchmarks.peers;

import static org.assertj.core.api.Assertions.assertThat;

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
}
