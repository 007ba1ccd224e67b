package io.amqplocks.sample.worker;

import io.amqplocks.sample.images.Thumbnail;
import java.io.IOException;
import java.io.InputStream;
import java.io.InterruptedIOException;
import java.io.OutputStream;
import java.util.concurrent.TimeUnit;
import org.springframework.http.StreamingHttpOutputMessage;

/**
 * Sends an image no faster than some network link would. What is not due yet has not been sent, so
 * an upload whose sender dies breaks off in the middle.
 */
final class ThrottledBody implements StreamingHttpOutputMessage.Body {

  private static final int CHUNK = 512;

  private final Thumbnail image;
  private final long bytesPerSecond;

  ThrottledBody(Thumbnail image, long bytesPerSecond) {
    this.image = image;
    this.bytesPerSecond = bytesPerSecond;
  }

  @Override
  public void writeTo(OutputStream link) throws IOException {
    long start = System.nanoTime();
    long sent = 0;
    try (InputStream file = image.open()) {
      for (byte[] chunk = file.readNBytes(CHUNK);
          chunk.length > 0;
          chunk = file.readNBytes(CHUNK)) {
        // By the start and not by the last chunk: late wake-ups do not add up.
        awaitNanoTime(start + TimeUnit.SECONDS.toNanos(sent + chunk.length) / bytesPerSecond);
        link.write(chunk);
        link.flush();
        sent += chunk.length;
      }
    }
  }

  private static void awaitNanoTime(long due) throws InterruptedIOException {
    try {
      TimeUnit.NANOSECONDS.sleep(due - System.nanoTime());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("Interrupted in the middle of an upload");
    }
  }
}
