package io.amqplocks.sample.demo;

import io.amqplocks.sample.receiver.UploadCount;
import io.amqplocks.test.ChildJvm;
import java.time.Duration;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.springframework.http.client.SimpleClientHttpRequestFactory;
import org.springframework.web.client.RestClient;

/** The receiver, a process of its own, as the one that counts. */
final class Receiver {

  private static final Duration START = Duration.ofMinutes(3);
  private static final Duration ANSWER = Duration.ofSeconds(30);
  private static final Pattern PORT = Pattern.compile("Tomcat started on port (\\d+)");

  private final String uri;
  private final RestClient client;

  private Receiver(String uri) {
    this.uri = uri;
    this.client = RestClient.builder().baseUrl(uri).requestFactory(requests()).build();
  }

  /** Waits until the process listens. */
  static Receiver await(ChildJvm process) {
    String line = process.awaitLine(written -> PORT.matcher(written).find(), START);
    Matcher matcher = PORT.matcher(line);
    if (!matcher.find()) {
      throw new IllegalStateException("No port in the line that has one: " + line);
    }
    return new Receiver("http://127.0.0.1:" + matcher.group(1));
  }

  /** A receiver that hangs must fail the demo and not hang it. */
  private static SimpleClientHttpRequestFactory requests() {
    SimpleClientHttpRequestFactory factory = new SimpleClientHttpRequestFactory();
    factory.setConnectTimeout(ANSWER);
    factory.setReadTimeout(ANSWER);
    return factory;
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
}
