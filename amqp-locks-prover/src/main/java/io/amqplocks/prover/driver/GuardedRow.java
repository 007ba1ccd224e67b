package io.amqplocks.prover.driver;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A row of a real database that counts, and that takes writes of the newest holder only. It is
 * guarded as the README says: by a condition in each {@code UPDATE}.
 *
 * <p>A holder adds to what it has read. So it writes its token before it reads. Otherwise an
 * earlier holder could still write in between, and the later one would overwrite that.
 *
 * <p>Concurrency: for one thread.
 */
public final class GuardedRow implements AutoCloseable {

  private static final String GUARD = " WHERE lock = ? AND slot = ? AND token <= ?";

  private final @Nullable Connection database;
  private final String lock;
  private int slot;
  private long total;

  private GuardedRow(@Nullable Connection database, String lock) {
    this.database = database;
    this.lock = lock;
  }

  /** The row to which that command writes. Without a database it takes everything. */
  public static GuardedRow of(Command command) {
    String url = command.store();
    if (url == null) {
      return new GuardedRow(null, "");
    }
    try {
      String lock = Objects.requireNonNull(command.lock()).name();
      return new GuardedRow(DriverManager.getConnection(url), lock);
    } catch (SQLException e) {
      throw failed(e);
    }
  }

  /** Begins to write with that token, which is 0 if there is none. False if it is superseded. */
  public boolean begin(int ofSlot, long token) {
    slot = ofSlot;
    return update("token = ?", token, token) && read();
  }

  private boolean read() {
    if (database == null) {
      return true;
    }
    try (PreparedStatement query =
        database.prepareStatement("SELECT total FROM resource WHERE lock = ? AND slot = ?")) {
      query.setString(1, lock);
      query.setInt(2, slot);
      try (ResultSet found = query.executeQuery()) {
        found.next();
        total = found.getLong(1);
        return true;
      }
    } catch (SQLException e) {
      throw failed(e);
    }
  }

  /** Adds one to what was there when it began. False if the token is superseded. */
  public boolean add(long token) {
    boolean taken = update("token = ?, total = ?, writes = writes + 1", token, token, total + 1);
    total += taken ? 1 : 0;
    return taken;
  }

  private boolean update(String change, long token, long... values) {
    if (database == null) {
      return true;
    }
    try (PreparedStatement update =
        database.prepareStatement("UPDATE resource SET " + change + GUARD)) {
      int i = 1;
      for (long value : values) {
        update.setLong(i++, value);
      }
      update.setString(i++, lock);
      update.setInt(i++, slot);
      update.setLong(i, token);
      return update.executeUpdate() == 1;
    } catch (SQLException e) {
      throw failed(e);
    }
  }

  private static IllegalStateException failed(SQLException e) {
    return new IllegalStateException("The database of the guarded rows failed", e);
  }

  @Override
  public void close() {
    try {
      if (database != null) {
        database.close();
      }
    } catch (SQLException e) {
      throw failed(e);
    }
  }
}
