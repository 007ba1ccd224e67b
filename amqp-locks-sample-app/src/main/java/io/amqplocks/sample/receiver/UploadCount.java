package io.amqplocks.sample.receiver;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.springframework.context.annotation.Profile;
import org.springframework.stereotype.Component;

/**
 * What the receiver saw with its own eyes. It knows nothing of locks or workers, so its highest
 * count proves that they keep to their limit.
 *
 * <p>Only uploads that came in whole are in that count. A sender that lives keeps its slot until it
 * has its answer, and so for as long as its upload counts. One that dies loses its slot at once,
 * and the next upload may begin before this process has read that the other one broke off. To be in
 * flight with it proves nothing. Only a sender that dies after its last byte, and before that was
 * read, is taken for one that lives.
 *
 * <p>All counts are guarded by one lock. What begins, is whole or ends does so at a moment of its
 * own, in the order in which the lock was held.
 */
@Component
@Profile("receiver")
public class UploadCount {

  /**
   * The counts at one moment.
   *
   * @param inFlight uploads that have begun and not ended
   * @param most the most whole uploads there ever were at once; one counts as soon as all of it
   *     has come in, and then for the time since it began
   * @param received uploads that brought an image
   * @param images different images among those
   * @param failed uploads that broke off, or brought no image
   */
  public record Snapshot(int inFlight, int most, int received, int images, int failed) {}

  private final ReentrantLock lock = new ReentrantLock();
  private final Set<String> images = new HashSet<>();

  /** In the order in which they began. */
  private final List<Upload> inFlight = new ArrayList<>();

  private int most;
  private int received;
  private int failed;

  /** An upload begins; it is in flight until it is closed. */
  Upload begin() {
    lock.lock();
    try {
      Upload upload = new Upload();
      inFlight.add(upload);
      return upload;
    } finally {
      lock.unlock();
    }
  }

  /** The counts now. */
  public Snapshot snapshot() {
    lock.lock();
    try {
      return new Snapshot(inFlight.size(), most, received, images.size(), failed);
    } finally {
      lock.unlock();
    }
  }

  /** It is one more at each moment since it began. */
  private void whole(Upload upload) {
    lock.lock();
    try {
      for (Upload since : inFlight.subList(inFlight.indexOf(upload), inFlight.size())) {
        since.overlap++;
        most = Math.max(most, since.overlap);
      }
    } finally {
      lock.unlock();
    }
  }

  private void end(Upload upload) {
    lock.lock();
    try {
      int index = inFlight.indexOf(upload);
      inFlight.remove(index);
      if (index > 0) {
        Upload older = inFlight.get(index - 1);
        older.overlap = Math.max(older.overlap, upload.overlap);
      }
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

  /**
   * One upload in flight, for one thread. It broke off unless it was {@link #whole}, and has failed
   * unless it {@link #brought} an image.
   */
  final class Upload implements AutoCloseable {

    /**
     * The most whole uploads at one moment, of the moments since this one began and before the next
     * one in {@link #inFlight} did. Whatever is whole later was there at all of these moments or at
     * none, so that one number is enough, and memory is only needed for what is in flight.
     */
    private int overlap;

    private @Nullable String image;

    private Upload() {}

    /** All of it has come in. Called once, before the sender gets its answer. */
    void whole() {
      UploadCount.this.whole(this);
    }

    void brought(String name) {
      image = name;
    }

    @Override
    public void close() {
      end(this);
    }
  }
}
