package io.amqplocks.sample.worker;

import io.amqplocks.lock.LockException;
import io.amqplocks.sample.BoundedRequests;
import io.amqplocks.sample.images.Thumbnail;
import io.amqplocks.spring.OnBusy;
import io.amqplocks.spring.OnUnavailable;
import io.amqplocks.spring.SemaphoreGuarded;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.amqp.ImmediateRequeueAmqpException;
import org.springframework.context.annotation.Profile;
import org.springframework.http.MediaType;
import org.springframework.stereotype.Component;
import org.springframework.web.client.RestClient;

/**
 * Sends images to the receiver. A bean of its own, because Spring guards calls from one bean to
 * another, and not those within a bean.
 */
@Component
@Profile("worker")
class Uploader {

  private static final Logger log = LoggerFactory.getLogger(Uploader.class);

  private final RestClient receiver;
  private final long bytesPerSecond;

  Uploader(WorkerProperties properties) {
    this.receiver =
        RestClient.builder()
            .baseUrl(properties.receiver())
            .requestFactory(BoundedRequests.factory())
            .build();
    this.bytesPerSecond = properties.bytesPerSecond().toBytes();
  }

  /**
   * Uploads one image; of all processes together, at most five are in here at once. A call that
   * gets no slot in time, or while the broker is away, does not upload; {@link #later} runs
   * instead.
   */
  @SemaphoreGuarded(
      name = "images",
      slots = 5,
      maxWait = "${sample.worker.patience}",
      onBusy = OnBusy.FALLBACK,
      onUnavailable = OnUnavailable.FALLBACK,
      fallbackMethod = "later")
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

  /** Leaves the image to whoever takes it next from the work queue. */
  void later(Thumbnail image, LockException why) {
    log.info(
        "{}, so {} goes back to the work queue",
        why.isOutage() ? "Nobody knows whether a slot is free" : "No slot came free in time",
        image.name());
    throw new ImmediateRequeueAmqpException("There is no upload slot now", why);
  }
}
