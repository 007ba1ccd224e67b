package io.amqplocks.sample;

import java.time.Duration;
import org.springframework.http.client.SimpleClientHttpRequestFactory;

/**
 * HTTP requests that do not wait without a bound. A call that never returns would keep its lock,
 * which is verified as long as the process lives.
 */
public final class BoundedRequests {

  private BoundedRequests() {}

  /** Writes on the calling thread, so that an upload is over when its method returns. */
  public static SimpleClientHttpRequestFactory factory() {
    SimpleClientHttpRequestFactory factory = new SimpleClientHttpRequestFactory();
    factory.setConnectTimeout(Duration.ofSeconds(5));
    factory.setReadTimeout(Duration.ofSeconds(10));
    return factory;
  }
}
