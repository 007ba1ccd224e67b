package io.amqplocks.sample.worker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.amqplocks.sample.images.Thumbnail;
import java.awt.image.BufferedImage;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InterruptedIOException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

class ThrottledBodyTest {

  private final Thumbnail image =
      Thumbnail.of("any.jpg", new BufferedImage(960, 640, BufferedImage.TYPE_INT_RGB));

  @Test
  void sendsTheImageWholeAndNoFasterThanAllowed() throws IOException {
    ByteArrayOutputStream link = new ByteArrayOutputStream();
    long start = System.nanoTime();
    new ThrottledBody(image, 10L * image.size()).writeTo(link);
    assertThat(Duration.ofNanos(System.nanoTime() - start))
        .isGreaterThanOrEqualTo(Duration.ofMillis(99));
    assertThat(link.toByteArray()).isEqualTo(image.open().readAllBytes());
  }

  @Test
  void stopsWhenInterrupted() {
    ByteArrayOutputStream link = new ByteArrayOutputStream();
    Thread.currentThread().interrupt();
    assertThatExceptionOfType(InterruptedIOException.class)
        .isThrownBy(() -> new ThrottledBody(image, 10).writeTo(link));
    assertThat(Thread.interrupted()).isTrue();
    assertThat(link.size()).isZero();
  }
}
