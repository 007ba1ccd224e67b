package io.amqplocks.sample.worker;

import io.amqplocks.sample.images.Thumbnail;
import io.amqplocks.spring.SemaphoreGuarded;
import java.time.Duration;
import org.springframework.context.annotation.Profile;
import org.springframework.http.MediaType;
import org.springframework.http.client.SimpleClientHttpRequestFactory;
import org.springframework.stereotype.Component;
import org.springframework.web.client.RestClient;

/**
 * Sends images to the receiver. A bean of its own, because Spring guards calls from one bean to
 * another, and not those within a bean.
 */
@Component
@Profile("worker")
class Uploader {

  private final RestClient receiver;
  private final long bytesPerSecond;

  Uploader(WorkerProperties properties) {
    this.receiver =
        RestClient.builder()
            .baseUrl(properties.receiver())
            .requestFactory(requestFactory())
            .build();
    this.bytesPerSecond = properties.bytesPerSecond().toBytes();
  }

  /** Uploads one image; of all processes together, at most five are in here at once. */
  @SemaphoreGuarded(name = "images", slots = 5)
  public void upload(Thumbnail image) {
    receiver
        .post()
        .uri("/images/{name}", image.name())
        .contentType(MediaType.IMAGE_JPEG)
        .contentLength(image.size())
        .body(new ThrottledBody(image, bytesPerSecond))
        .retrieve()
        .toBodilessEntity();
  }

  /** Writes on the calling thread, so that the upload is over when the method returns. */
  private static SimpleClientHttpRequestFactory requestFactory() {
    SimpleClientHttpRequestFactory factory = new SimpleClientHttpRequestFactory();
    factory.setConnectTimeout(Duration.ofSeconds(5));
    factory.setReadTimeout(Duration.ofSeconds(10));
    return factory;
  }
}
