package io.amqplocks.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Writes down which brokers served, one version a line, in the file that {@code
 * AMQP_LOCKS_BROKER_RECORD} names, so that a report can say what the tests really ran on.
 */
final class BrokerRecord {

  private BrokerRecord() {}

  static void add(BrokerVersion version) {
    String file = System.getenv("AMQP_LOCKS_BROKER_RECORD");
    if (file == null) {
      return;
    }
    try {
      Files.writeString(
          Path.of(file), version + "\n", StandardOpenOption.CREATE, StandardOpenOption.APPEND);
    } catch (IOException e) {
      throw new UncheckedIOException("Cannot write the record of brokers " + file, e);
    }
  }
}
