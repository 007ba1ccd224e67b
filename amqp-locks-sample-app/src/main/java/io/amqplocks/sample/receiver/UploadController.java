package io.amqplocks.sample.receiver;

import io.amqplocks.sample.images.Thumbnail;
import io.amqplocks.sample.receiver.UploadCount.Upload;
import java.io.IOException;
import java.io.InputStream;
import org.springframework.context.annotation.Profile;
import org.springframework.http.HttpStatus;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.server.ResponseStatusException;

/** Takes uploads. Keeps nothing but the count of them, so that a demo leaves nothing behind. */
@RestController
@Profile("receiver")
class UploadController {

  private static final int MAX_BYTES = 1 << 20;

  private final UploadCount count;

  UploadController(UploadCount count) {
    this.count = count;
  }

  /**
   * Takes one image. The upload counts from here, where its headers have come in, until its last
   * byte or the end of its connection was read: in any case before the sender gets an answer.
   */
  @PostMapping("/images/{name}")
  @ResponseStatus(HttpStatus.NO_CONTENT)
  void receive(@PathVariable String name, InputStream body) throws IOException {
    try (Upload upload = count.begin()) {
      // Throws if the connection ends before the body does.
      byte[] bytes = body.readNBytes(MAX_BYTES);
      // Before the image is decoded, for a sender that dies meanwhile has lost its slot.
      upload.whole();
      if (!Thumbnail.isOne(bytes)) {
        throw new ResponseStatusException(HttpStatus.UNPROCESSABLE_CONTENT, "Not a thumbnail");
      }
      upload.brought(name);
    }
  }

  /** What was counted so far. */
  @GetMapping("/stats")
  UploadCount.Snapshot stats() {
    return count.snapshot();
  }
}
