package io.amqplocks.sample.receiver;

import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;

/**
 * What the receiver saw with its own eyes. It knows nothing of locks or workers, so its highest
 * count proves that they keep to their limit.
 */
@Component
@Profile("receiver")
public class UploadCount {

  /**
   * The counts at one moment.
   *
   * @param inFlight uploads that have begun and not ended
   * @param most the most there ever were in flight at once
   * @param received uploads that brought an image
   * @param images different images among those
   * @param failed uploads that broke off, or brought no image
   */
  public record Snapshot(int inFlight, int most, int received, int images, int failed) {}

  private final ReentrantLock lock = new ReentrantLock();
  private final Set<String> images = new HashSet<>();
  private int inFlight;
  private int most;
  private int received;
  private int failed;

  /** An upload begins; it is in flight until it is closed. */
  Upload begin() {
    lock.lock();
    try {
      inFlight++;
      most = Math.max(most, inFlight);
      return new Upload();
    } finally {
      lock.unlock();
    }
  }

  /** The counts now. */
  public Snapshot snapshot() {
    lock.lock();
    try {
      return new Snapshot(inFlight, most, received, images.size(), failed);
    } finally {
      lock.unlock();
    }
  }

  private void end(Upload upload) {
    lock.lock();
    try {
      inFlight--;
      if (upload.image == null) {
        failed++;
      } else {
        received++;
        images.add(upload.image);
      }
    } finally {
      lock.unlock();
    }
  }

  /** One upload in flight, for one thread. It has failed unless it {@link #brought} an image. */
  final class Upload implements AutoCloseable {

    private @Nullable String image;

    private Upload() {}

    void brought(String name) {
      image = name;
    }

    @Override
    public void close() {
      end(this);
    }
  }
}
