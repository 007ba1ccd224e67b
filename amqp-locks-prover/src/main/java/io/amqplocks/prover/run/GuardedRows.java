package io.amqplocks.prover.run;

import io.amqplocks.prover.history.History;
import io.amqplocks.prover.history.Stored;
import io.amqplocks.prover.run.Plan.Slots;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.h2.api.Trigger;
import org.h2.tools.Server;

/**
 * A real database (H2) that clients reach by TCP, with a row for each slot of each lock. It writes
 * down all that a row takes, in the transaction that writes it. So what it took is known also where
 * a client died before it could tell.
 */
final class GuardedRows implements AutoCloseable {

  /** No semaphore of a plan has more, but those that have room for all. Storms make fewer. */
  private static final int SLOTS = 16;

  /** A machine that is busy may take long for a write. No client waits for another one's. */
  private static final String WAITS = ";LOCK_TIMEOUT=60000";

  private final Server server;
  private final String url;
  private final Connection database;

  private GuardedRows(Server server, String url, Connection database) {
    this.server = server;
    this.url = url;
    this.database = database;
  }

  /** Starts a database, which is empty but for these rows. */
  static GuardedRows start(List<Slots> locks) {
    try {
      Server server = Server.createTcpServer("-tcpPort", "0", "-tcpDaemon", "-ifNotExists").start();
      boolean started = false;
      try {
        GuardedRows rows = connect(server);
        rows.create(locks);
        started = true;
        return rows;
      } finally {
        if (!started) {
          server.stop();
        }
      }
    } catch (SQLException e) {
      throw failed(e);
    }
  }

  /** Databases in memory are those of the JVM, whatever their server is. So each has its name. */
  private static GuardedRows connect(Server server) throws SQLException {
    int port = server.getPort();
    String url = "jdbc:h2:tcp://127.0.0.1:" + port + "/mem:rows-" + port + WAITS;
    return new GuardedRows(server, url, DriverManager.getConnection(url));
  }

  private void create(List<Slots> locks) throws SQLException {
    try (Statement statement = database.createStatement()) {
      statement.execute(
          "CREATE TABLE resource (lock VARCHAR(100), slot INT, token BIGINT DEFAULT 0,"
              + " total BIGINT DEFAULT 0, writes BIGINT DEFAULT 0, PRIMARY KEY (lock, slot))");
      statement.execute(
          "CREATE TABLE taken (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY,"
              + " lock VARCHAR(100), slot INT, token BIGINT, total BIGINT, writes BIGINT,"
              + " at BIGINT)");
      statement.execute(
          "CREATE TRIGGER taking AFTER UPDATE ON resource FOR EACH ROW CALL \"%s\""
              .formatted(Taking.class.getName()));
    }
    try (PreparedStatement insert =
        database.prepareStatement("INSERT INTO resource (lock, slot) VALUES (?, ?)")) {
      for (Slots each : locks) {
        for (int slot = 1; slot <= Math.max(SLOTS, each.count()); slot++) {
          insert.setString(1, each.lock().name());
          insert.setInt(2, slot);
          insert.addBatch();
        }
      }
      insert.executeBatch();
    }
  }

  /** Where clients reach it. */
  String url() {
    return url;
  }

  /** Writes down what the rows took. */
  void tell(History history) {
    try (Statement statement = database.createStatement();
        ResultSet found =
            statement.executeQuery(
                "SELECT lock, slot, token, total, writes, at FROM taken ORDER BY id")) {
      while (found.next()) {
        history.took(
            new Stored(
                found.getString(1),
                found.getInt(2),
                found.getLong(3),
                found.getLong(4),
                found.getLong(5),
                found.getLong(6)));
      }
    } catch (SQLException e) {
      throw failed(e);
    }
  }

  private static IllegalStateException failed(SQLException e) {
    return new IllegalStateException("The database of the guarded rows failed", e);
  }

  /** Nothing of it is kept. */
  @Override
  public void close() {
    try {
      database.close();
    } catch (SQLException e) {
      throw failed(e);
    } finally {
      server.stop();
    }
  }

  /**
   * Writes down what a row takes. The row is locked until the transaction ends, so the writes of
   * one row are written down in their order.
   */
  public static final class Taking implements Trigger {

    /** For H2, which creates it by its name. */
    public Taking() {}

    @Override
    public void fire(Connection connection, Object[] before, Object[] after) throws SQLException {
      try (PreparedStatement insert =
          connection.prepareStatement(
              "INSERT INTO taken (lock, slot, token, total, writes, at)"
                  + " VALUES (?, ?, ?, ?, ?, ?)")) {
        for (int i = 0; i < 5; i++) {
          insert.setObject(i + 1, after[i]);
        }
        insert.setLong(6, System.nanoTime());
        insert.executeUpdate();
      }
    }
  }
}
