package io.amqplocks.support;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** A table, one row a resource, that takes writes of the newest holder only. */
public final class GuardedTable {

  private GuardedTable() {}

  /** Makes the table with a row for each, that nobody has written yet. */
  public static void create(Connection database, int rows) throws SQLException {
    try (Statement statement = database.createStatement()) {
      statement.execute(
          "CREATE TABLE report (id INT PRIMARY KEY, body VARCHAR(100), token BIGINT NOT NULL)");
      for (int row = 1; row <= rows; row++) {
        statement.execute("INSERT INTO report VALUES (" + row + ", '', 0)");
      }
    }
  }

  /** Writes; false if a later holder wrote before. */
  public static boolean write(Connection database, int row, String body, long token)
      throws SQLException {
    return write(database, row, body, token, "<=");
  }

  /** Writes; false if the holder of that token, or a later one, wrote before. */
  public static boolean writeOnce(Connection database, int row, String body, long token)
      throws SQLException {
    return write(database, row, body, token, "<");
  }

  private static boolean write(
      Connection database, int row, String body, long token, String comparison)
      throws SQLException {
    try (PreparedStatement update =
        database.prepareStatement(
            "UPDATE report SET body = ?, token = ? WHERE id = ? AND token " + comparison + " ?")) {
      update.setString(1, body);
      update.setLong(2, token);
      update.setInt(3, row);
      update.setLong(4, token);
      return update.executeUpdate() == 1;
    }
  }

  /** What stands there. */
  public static String body(Connection database, int row) throws SQLException {
    try (Statement statement = database.createStatement();
        ResultSet found = statement.executeQuery("SELECT body FROM report WHERE id = " + row)) {
      found.next();
      return found.getString(1);
    }
  }
}
