package io.amqplocks.sample.demo;

import io.amqplocks.sample.receiver.UploadCount;
import io.amqplocks.test.ChildJvm;
import java.time.Duration;
import java.util.Objects;
import org.springframework.http.client.SimpleClientHttpRequestFactory;
import org.springframework.web.client.RestClient;

/** The receiver, a process of its own, as the one that counts. */
final class Receiver {

  private static final Duration START = Duration.ofMinutes(3);
  private static final Duration ANSWER = Duration.ofSeconds(30);

  private final String uri;
  private final RestClient client;

  private Receiver(String uri) {
    this.uri = uri;
    this.client = RestClient.builder().baseUrl(uri).requestFactory(requests()).build();
  }

  /** Waits until the process listens. */
  static Receiver await(ChildJvm process) {
    return new Receiver(ListeningPort.await(process, START));
  }

  /** A process that hangs must fail the demo and not hang it. */
  static SimpleClientHttpRequestFactory requests() {
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
