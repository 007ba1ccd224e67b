package io.amqplocks.sample.worker;

import static io.amqplocks.inmemory.InMemoryLocksAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.amqplocks.inmemory.InMemoryLocks;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.sample.images.Thumbnail;
import java.awt.image.BufferedImage;
import java.io.IOException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.springframework.amqp.ImmediateRequeueAmqpException;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.test.context.ActiveProfiles;
import org.springframework.web.client.ResourceAccessException;

/** There is no broker, and no receiver either. */
@SpringBootTest(
    webEnvironment = SpringBootTest.WebEnvironment.NONE,
    properties = {
      "amqp-locks.mode=in-memory",
      "spring.rabbitmq.listener.simple.auto-startup=false",
      "sample.worker.patience=100ms",
      "sample.worker.receiver=http://localhost:1"
    })
@ActiveProfiles("worker")
class UploaderInMemoryTest {

  private static final LockId IMAGES = LockId.tokenSemaphore("images");

  private final Thumbnail image =
      Thumbnail.of("any.jpg", new BufferedImage(960, 640, BufferedImage.TYPE_INT_RGB));

  @Autowired private InMemoryLocks locks;
  @Autowired private Uploader uploader;

  UploaderInMemoryTest() throws IOException {}

  @AfterEach
  void noSlotIsLeftHeld() {
    assertThat(locks).holdsNothing().hasNeverHeldMoreThan(IMAGES, 1);
  }

  @Test
  void whileOthersHaveAllSlotsTheImageIsLeftToThem() {
    try (InMemoryLocks.Occupation elsewhere = locks.busy(IMAGES)) {
      assertThatExceptionOfType(ImmediateRequeueAmqpException.class)
          .as("while there is %s", elsewhere)
          .isThrownBy(() -> uploader.upload(image))
          .withCauseInstanceOf(LockException.AcquireTimeout.class);
    }
  }

  @Test
  void withoutABrokerTheImageIsLeftToOthers() {
    locks.connect();
    locks.unavailable();
    try {
      assertThatExceptionOfType(ImmediateRequeueAmqpException.class)
          .isThrownBy(() -> uploader.upload(image))
          .withCauseInstanceOf(LockException.Unreachable.class);
    } finally {
      locks.available();
    }
  }

  @Test
  void aFailedUploadReleasesItsSlot() {
    int before = locks.history().size();
    assertThatExceptionOfType(ResourceAccessException.class)
        .isThrownBy(() -> uploader.upload(image));
    assertThat(locks.history()).hasSize(before + 1).last().extracting("lock").isEqualTo(IMAGES);
  }
}
