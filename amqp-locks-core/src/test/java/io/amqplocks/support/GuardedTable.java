package io.amqplocks.support;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** A table, one row a slot, that takes writes of the newest holder only. */
public final class GuardedTable {

  private GuardedTable() {}

  /** Makes the table with a row for each slot, that nobody has written yet. */
  public static void create(Connection database, int slots) throws SQLException {
    try (Statement statement = database.createStatement()) {
      statement.execute(
          "CREATE TABLE report (slot INT PRIMARY KEY, body VARCHAR(100), token BIGINT NOT NULL)");
      for (int slot = 1; slot <= slots; slot++) {
        statement.execute("INSERT INTO report VALUES (" + slot + ", '', 0)");
      }
    }
  }

  /** Writes; false if a later holder wrote before. */
  public static boolean write(Connection database, int slot, String body, long token)
      throws SQLException {
    try (PreparedStatement update =
        database.prepareStatement(
            "UPDATE report SET body = ?, token = ? WHERE slot = ? AND token <= ?")) {
      update.setString(1, body);
      update.setLong(2, token);
      update.setInt(3, slot);
      update.setLong(4, token);
      return update.executeUpdate() == 1;
    }
  }

  /** What stands there. */
  public static String body(Connection database, int slot) throws SQLException {
    try (Statement statement = database.createStatement();
        ResultSet row = statement.executeQuery("SELECT body FROM report WHERE slot = " + slot)) {
      row.next();
      return row.getString(1);
    }
  }
}
