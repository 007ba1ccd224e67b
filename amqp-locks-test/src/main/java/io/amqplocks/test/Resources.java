package io.amqplocks.test;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;

/** The scripts that come with this module. */
final class Resources {

  private Resources() {}

  static String text(String name) {
    try (InputStream stream = Resources.class.getResourceAsStream(name)) {
      if (stream == null) {
        throw new IllegalStateException("Not on the class path: " + name);
      }
      return new String(stream.readAllBytes(), StandardCharsets.UTF_8);
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }
}
