package io.amqplocks.sample.demo;

import io.amqplocks.sample.receiver.UploadCount;
import io.amqplocks.test.ChildJvm;
import java.time.Duration;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.springframework.web.client.RestClient;

/** The receiver, a process of its own, as the one that counts. */
final class Receiver implements AutoCloseable {

  private static final Duration START = Duration.ofSeconds(90);
  private static final Pattern PORT = Pattern.compile("Tomcat started on port (\\d+)");

  private final ChildJvm process;
  private final String uri;
  private final RestClient client;

  private Receiver(ChildJvm process, String uri) {
    this.process = process;
    this.uri = uri;
    this.client = RestClient.create(uri);
  }

  /** Waits until the process listens. */
  static Receiver await(ChildJvm process) {
    String line = process.awaitLine(written -> PORT.matcher(written).find(), START);
    Matcher matcher = PORT.matcher(line);
    if (!matcher.find()) {
      throw new IllegalStateException("No port in the line that has one: " + line);
    }
    return new Receiver(process, "http://localhost:" + matcher.group(1));
  }

  /** Where it listens. */
  String uri() {
    return uri;
  }

  /** What it has counted so far. */
  UploadCount.Snapshot count() {
    return Objects.requireNonNull(
        client.get().uri("/stats").retrieve().body(UploadCount.Snapshot.class));
  }

  @Override
  public void close() {
    process.close();
  }
}
