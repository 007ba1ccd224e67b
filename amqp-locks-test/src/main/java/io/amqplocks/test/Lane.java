package io.amqplocks.test;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.util.Arrays;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/**
 * One direction of a connection: a thread that reads, and one that writes when a chunk is due. The
 * queue between them is long enough that a delay does not limit the throughput, and bounded so that
 * a peer that stops reading is felt on the other side.
 */
final class Lane {

  private static final int CHUNK_BYTES = 16 * 1024;
  private static final int CHUNKS = 4 * 1024;

  /** Bytes that are due at a time of {@link System#nanoTime()}; null bytes are the end. */
  private static final class Chunk {
    final byte @Nullable [] bytes;
    final long due;

    Chunk(byte @Nullable [] bytes, long due) {
      this.bytes = bytes;
      this.due = due;
    }
  }

  private final Direction direction;
  private final Socket from;
  private final Socket to;
  private final Weather weather;
  private final BiConsumer<Direction, byte[]> tap;
  private final Link link;
  private final BlockingQueue<Chunk> underWay = new ArrayBlockingQueue<>(CHUNKS);
  private final ReentrantLock passing = new ReentrantLock();
  private volatile boolean swallowing;
  private volatile @Nullable Thread writer;
  private volatile @Nullable Thread reader;

  Lane(
      Direction direction,
      Socket from,
      Socket to,
      Weather weather,
      BiConsumer<Direction, byte[]> tap,
      Link link) {
    this.direction = direction;
    this.from = from;
    this.to = to;
    this.weather = weather;
    this.tap = tap;
    this.link = link;
  }

  void start() {
    ProxyThreads.start(direction + "-read", this::read);
    ProxyThreads.start(direction + "-write", this::write);
  }

  /** From now on nothing arrives at the other side any more. */
  void swallowAll() {
    swallowing = true;
  }

  void stop() {
    interrupt(reader);
    interrupt(writer);
  }

  private static void interrupt(@Nullable Thread thread) {
    if (thread != null) {
      thread.interrupt();
    }
  }

  private void read() {
    reader = Thread.currentThread();
    byte[] buffer = new byte[CHUNK_BYTES];
    try {
      InputStream input = from.getInputStream();
      for (int count = input.read(buffer); count >= 0; count = input.read(buffer)) {
        put(Arrays.copyOf(buffer, count));
      }
      put(null);
    } catch (IOException broken) {
      putQuietly();
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  private void put(byte @Nullable [] bytes) throws InterruptedException {
    underWay.put(new Chunk(bytes, System.nanoTime() + weather.delayNanos(direction)));
  }

  private void putQuietly() {
    try {
      put(null);
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    }
  }

  private void write() {
    writer = Thread.currentThread();
    try {
      boolean more = true;
      while (more) {
        more = deliver(underWay.take());
      }
    } catch (InterruptedException stopped) {
      Thread.currentThread().interrupt();
    } catch (IOException broken) {
      link.close();
    } catch (Exception | Error failedTap) {
      // The one who reads would wait for what this thread no longer writes.
      link.close();
      throw failedTap;
    }
  }

  private void pass(byte[] bytes) throws IOException {
    passing.lock();
    try {
      if (!swallows()) {
        to.getOutputStream().write(bytes);
      }
    } catch (IOException broken) {
      if (!swallowing) { // Else it is the fault that broke it, and the rest is to be swallowed.
        throw broken;
      }
    } finally {
      passing.unlock();
    }
  }

  private boolean swallows() {
    return swallowing || weather.swallows(direction);
  }

  /**
   * Waits for bytes that are being passed on, so that a black hole which began before swallows all
   * that comes. Where the other side reads nothing they may never be passed on, so the wait has a
   * bound. An interrupted thread does not wait, and stays interrupted.
   *
   * @param end in {@link System#nanoTime()}
   */
  void awaitPassing(long end) {
    try {
      if (passing.tryLock(Math.max(0, end - System.nanoTime()), TimeUnit.NANOSECONDS)) {
        passing.unlock();
      }
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  /** Whether more is to come. */
  private boolean deliver(Chunk chunk) throws InterruptedException, IOException {
    TimeUnit.NANOSECONDS.sleep(chunk.due - System.nanoTime());
    byte[] bytes = chunk.bytes;
    if (bytes != null) {
      if (!swallows()) {
        tap.accept(direction, bytes);
        pass(bytes);
      }
      return true;
    }
    boolean swallowed = weather.swallows(direction);
    if (swallowed) {
      link.endSwallowed();
      if (!weather.swallows(direction)) {
        // The black hole ended meanwhile, and whoever ended it did not see this end.
        link.closeIfHalfLost();
      }
    } else if (!swallowing) {
      to.shutdownOutput();
    }
    if (!swallowed) {
      link.laneEnded();
    }
    return false;
  }
}
