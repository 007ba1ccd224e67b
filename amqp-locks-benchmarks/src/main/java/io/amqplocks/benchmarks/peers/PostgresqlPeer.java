package io.amqplocks.benchmarks.peers;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Optional;

/**
 * PostgreSQL's advisory locks of a session, by plain JDBC. A session cannot exclude itself, so each
 * lease needs a connection; a client keeps those that are free, as a pool does.
 */
final class PostgresqlPeer {

  /** Of a statement that waited for longer than {@code lock_timeout}. */
  private static final String LOCK_NOT_AVAILABLE = "55P03";

  private PostgresqlPeer() {}

  static PeerClient connect(String address) throws Exception {
    Sessions sessions = new Sessions(address);
    sessions.giveBack(sessions.take());
    return sessions;
  }

  /** The connections of one client. */
  private static final class Sessions implements PeerClient {
    private final String address;
    private final Deque<Session> free = new ArrayDeque<>();
    private final List<Connection> all = new ArrayList<>();

    Sessions(String address) {
      this.address = address;
    }

    synchronized Session take() throws SQLException {
      Session session = free.poll();
      if (session == null) {
        session = new Session(DriverManager.getConnection(address));
        all.add(session.connection);
      }
      return session;
    }

    synchronized void giveBack(Session session) {
      free.push(session);
    }

    @Override
    public PeerLock lock(Kind kind, String name) {
      if (kind != Kind.ADVISORY_LOCK) {
        throw new IllegalArgumentException("Not PostgreSQL's: " + kind);
      }
      long key = name.hashCode();
      return wait -> acquire(key, wait);
    }

    private Optional<AutoCloseable> acquire(long key, Duration wait) throws SQLException {
      Session session = take();
      boolean acquired = false;
      try {
        acquired = wait.isZero() ? session.tryLock(key) : session.lock(key, wait);
      } finally {
        if (!acquired) {
          giveBack(session);
        }
      }
      return acquired ? Optional.of(() -> release(session, key)) : Optional.empty();
    }

    private void release(Session session, long key) throws SQLException {
      session.unlock(key);
      giveBack(session);
    }

    @Override
    public synchronized void close() throws SQLException {
      for (Connection connection : all) {
        connection.close();
      }
    }
  }

  /** What can hold the lock; used by one thread at a time. */
  private static final class Session {
    private final Connection connection;

    /** Sent when it changes: sent with each request, it would double the time. */
    private Duration limit = Duration.ZERO;

    Session(Connection connection) {
      this.connection = connection;
    }

    boolean tryLock(long key) throws SQLException {
      return select("SELECT pg_try_advisory_lock(?)", key);
    }

    boolean lock(long key, Duration wait) throws SQLException {
      if (!wait.equals(limit)) {
        try (Statement statement = connection.createStatement()) {
          statement.execute("SET lock_timeout = " + wait.toMillis());
        }
        limit = wait;
      }
      try {
        boolean unused = select("SELECT pg_advisory_lock(?) IS NULL", key);
        return true;
      } catch (SQLException e) {
        if (LOCK_NOT_AVAILABLE.equals(e.getSQLState())) {
          return false;
        }
        throw e;
      }
    }

    void unlock(long key) throws SQLException {
      if (!select("SELECT pg_advisory_unlock(?)", key)) {
        throw new IllegalStateException("The session did not hold the lock");
      }
    }

    private boolean select(String query, long key) throws SQLException {
      try (PreparedStatement statement = connection.prepareStatement(query)) {
        statement.setLong(1, key);
        try (ResultSet result = statement.executeQuery()) {
          return result.next() && result.getBoolean(1);
        }
      }
    }
  }
}
