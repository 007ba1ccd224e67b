package io.amqplocks.prover.budget;

import static org.awaitility.Awaitility.await;

import io.amqplocks.test.Direction;
import io.amqplocks.test.WireTap;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.ReentrantLock;

/**
 * All methods that passed a proxy, in the order in which they passed. A method is here before its
 * receiver has it, so a request always comes before its answer, and what a client has heard when an
 * operation returns is here by then.
 */
final class FrameLog implements WireTap {

  private record Lane(int connection, Direction direction) {}

  private final ReentrantLock lock = new ReentrantLock();
  private final Map<Lane, FrameReader> readers = new HashMap<>();
  private final List<MethodFrame> frames = new ArrayList<>();
  private long lastAt = System.nanoTime();

  @Override
  public void passing(int connection, Direction direction, byte[] bytes) {
    lock.lock();
    try {
      boolean sent = direction == Direction.CLIENT_TO_BROKER;
      readers
          .computeIfAbsent(
              new Lane(connection, direction),
              lane ->
                  new FrameReader(
                      (method, channel) -> {
                        frames.add(new MethodFrame(connection, channel, sent, method));
                        lastAt = System.nanoTime();
                      }))
          .read(bytes);
    } finally {
      lock.unlock();
    }
  }

  /** The methods up to now. */
  List<MethodFrame> frames() {
    lock.lock();
    try {
      return List.copyOf(frames);
    } finally {
      lock.unlock();
    }
  }

  /** Waits until nothing has passed for so long. */
  void awaitQuiet(Duration quiet) {
    long from = System.nanoTime();
    await()
        .atMost(Duration.ofSeconds(10))
        .pollInterval(Duration.ofMillis(5))
        .until(() -> System.nanoTime() - Math.max(from, lastAt()) > quiet.toNanos());
  }

  private long lastAt() {
    lock.lock();
    try {
      return lastAt;
    } finally {
      lock.unlock();
    }
  }
}
