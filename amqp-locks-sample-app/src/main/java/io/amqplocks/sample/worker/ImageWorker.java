package io.amqplocks.sample.worker;

import io.amqplocks.sample.images.ImageFolder;
import io.amqplocks.sample.images.Thumbnail;
import java.io.IOException;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.amqp.AmqpRejectAndDontRequeueException;
import org.springframework.amqp.rabbit.annotation.Queue;
import org.springframework.amqp.rabbit.annotation.RabbitListener;
import org.springframework.context.annotation.Profile;
import org.springframework.http.HttpStatus;
import org.springframework.http.HttpStatusCode;
import org.springframework.stereotype.Component;
import org.springframework.web.client.HttpClientErrorException;

/**
 * Takes the names of image files from a work queue. A name is acknowledged when its image is
 * uploaded, so that the work of a process that dies goes to another.
 */
@Component
@Profile("worker")
class ImageWorker {

  private static final Logger log = LoggerFactory.getLogger(ImageWorker.class);

  /** The receiver may take the image later. */
  private static final Set<HttpStatusCode> PASSING =
      Set.of(HttpStatus.REQUEST_TIMEOUT, HttpStatus.TOO_EARLY, HttpStatus.TOO_MANY_REQUESTS);

  private final ImageFolder folder;
  private final Uploader uploader;

  ImageWorker(WorkerProperties properties, Uploader uploader) {
    this.folder = new ImageFolder(properties.folder());
    this.uploader = uploader;
  }

  /** Resizes as fast as it can; only the upload has to wait for a slot. */
  @RabbitListener(queuesToDeclare = @Queue(name = "${sample.worker.queue}", durable = "true"))
  void work(String name) {
    Thumbnail image = resize(name);
    try {
      uploader.upload(image);
    } catch (HttpClientErrorException e) {
      if (PASSING.contains(e.getStatusCode())) {
        throw e;
      }
      throw new AmqpRejectAndDontRequeueException("The receiver would refuse it again", e);
    }
    log.info("{} uploaded", name);
  }

  private Thumbnail resize(String name) {
    try {
      return Thumbnail.of(name, folder.read(name));
    } catch (IOException e) {
      throw new AmqpRejectAndDontRequeueException("No other worker could read it either", e);
    }
  }
}
