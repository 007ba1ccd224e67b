package io.amqplocks.sample.report;

import io.amqplocks.lock.FencingToken;
import java.time.LocalDate;
import java.util.Optional;
import org.springframework.context.annotation.Profile;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.stereotype.Repository;

/**
 * Reports as the database keeps them. It takes no word from a writer that another one has
 * overtaken, even if that one does not know it yet: each row remembers the highest fencing token
 * that has written to it.
 */
@Repository
@Profile("reporter")
class ReportTable {

  private final JdbcClient database;

  ReportTable(JdbcClient database) {
    this.database = database;
  }

  /** Writes; false if a later holder of the mutex has written before, and nothing was changed. */
  boolean write(LocalDate day, int images, FencingToken token) {
    database
        .sql(
            "MERGE INTO report USING (VALUES (:day)) AS wanted (d) ON report_day = wanted.d"
                + " WHEN NOT MATCHED THEN INSERT (report_day, images, token) VALUES (wanted.d, 0, 0)")
        .param("day", day)
        .update();
    return database
            .sql(
                "UPDATE report SET images = :images, token = :token"
                    + " WHERE report_day = :day AND token <= :token")
            .param("images", images)
            .param("token", token.number())
            .param("day", day)
            .update()
        == 1;
  }

  /** Deletes the reports of the days before that one; returns how many. */
  int deleteBefore(LocalDate day) {
    return database.sql("DELETE FROM report WHERE report_day < :day").param("day", day).update();
  }

  /** How many images the report of that day tells of. */
  Optional<Integer> images(LocalDate day) {
    return database
        .sql("SELECT images FROM report WHERE report_day = :day")
        .param("day", day)
        .query(Integer.class)
        .optional();
  }
}
