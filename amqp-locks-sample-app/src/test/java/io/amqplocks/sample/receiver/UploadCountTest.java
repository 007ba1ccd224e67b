package io.amqplocks.sample.receiver;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.sample.receiver.UploadCount.Snapshot;
import io.amqplocks.sample.receiver.UploadCount.Upload;
import org.junit.jupiter.api.Test;

class UploadCountTest {

  private final UploadCount count = new UploadCount();

  @Test
  void remembersTheMostAtOnce() {
    try (Upload first = count.begin()) {
      try (Upload second = count.begin()) {
        second.brought("b");
      }
      assertThat(count.snapshot()).isEqualTo(new Snapshot(1, 2, 1, 1, 0));
      first.brought("a");
    }
    assertThat(count.snapshot()).isEqualTo(new Snapshot(0, 2, 2, 2, 0));
  }

  @Test
  void tellsImagesFromUploads() {
    for (int again = 0; again < 3; again++) {
      try (Upload upload = count.begin()) {
        upload.brought("a");
      }
    }
    assertThat(count.snapshot()).isEqualTo(new Snapshot(0, 1, 3, 1, 0));
  }

  @Test
  void anUploadThatBroughtNothingHasFailed() {
    count.begin().close();
    assertThat(count.snapshot()).isEqualTo(new Snapshot(0, 1, 0, 0, 1));
  }
}
