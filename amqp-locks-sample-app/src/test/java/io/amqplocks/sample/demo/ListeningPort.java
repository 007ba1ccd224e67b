package io.amqplocks.sample.demo;

import io.amqplocks.test.ChildJvm;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Where a process of the sample listens, from its log. */
public final class ListeningPort {

  private static final Pattern PORT = Pattern.compile("Tomcat started on port (\\d+)");

  private ListeningPort() {}

  /** Waits until the process listens; returns the address. */
  public static String await(ChildJvm process, Duration timeout) {
    String line = process.awaitLine(written -> PORT.matcher(written).find(), timeout);
    Matcher matcher = PORT.matcher(line);
    if (!matcher.find()) {
      throw new IllegalStateException("No port in the line that has one: " + line);
    }
    return "http://127.0.0.1:" + matcher.group(1);
  }
}
