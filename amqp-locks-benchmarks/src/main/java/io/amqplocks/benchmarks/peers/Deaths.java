package io.amqplocks.benchmarks.peers;

import io.amqplocks.test.ChildJvm;
import java.time.Duration;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * From the kill of the process that holds all slots to the acquire of another client that waits.
 * Where a time to live has to pass, this takes half a minute, so the next kind begins meanwhile.
 */
final class Deaths {

  /** Longer than the time to live of any of them; who has waited so long waits for ever. */
  static final Duration PATIENCE = Duration.ofSeconds(60);

  private static final Duration START = Duration.ofMinutes(3);

  private Deaths() {}

  static void measure(Systems systems, List<Kind> kinds, Effort effort, Recorder recorder) {
    List<Kind> left = kinds;
    for (int pass = 0; pass < effort.deaths(); pass++) {
      left = once(systems, left, recorder);
    }
  }

  /** Returns the kinds that can be acquired again. */
  private static List<Kind> once(Systems systems, List<Kind> kinds, Recorder recorder) {
    Map<Kind, Future<Double>> micros = new EnumMap<>(Kind.class);
    ExecutorService waiters = Executors.newCachedThreadPool();
    try {
      // Ours last: whose slots become free late should begin early.
      for (int i = kinds.size() - 1; i >= 0; i--) {
        Kind kind = kinds.get(i);
        try (ChildJvm holder = holder(kind, systems.server(kind.peer()).address())) {
          holder.awaitLine(HolderMain.HELD, START);
          PeerLock wanted = systems.lock(Scenario.DEATH, kind, 0);
          Future<Optional<Long>> taken = waiters.submit(() -> take(wanted));
          TimeUnit.SECONDS.sleep(1);
          long start = System.nanoTime();
          holder.killNow();
          micros.put(kind, waiters.submit(() -> since(start, taken.get())));
        } catch (Exception e) {
          recorder.fail(kind, e);
        }
      }
      return kinds.stream()
          .filter(micros::containsKey)
          .filter(kind -> isFreed(kind, micros.get(kind), recorder))
          .toList();
    } finally {
      waiters.shutdownNow();
    }
  }

  /** In microseconds. */
  private static double since(long start, Optional<Long> end) {
    return end.map(at -> (at - start) / 1e3).orElse(Double.POSITIVE_INFINITY);
  }

  private static boolean isFreed(Kind kind, @Nullable Future<Double> micros, Recorder recorder) {
    try {
      double value = Objects.requireNonNull(micros).get();
      recorder.add(kind, Metric.FREED, value);
      return Double.isFinite(value);
    } catch (Exception e) {
      recorder.fail(kind, e);
      return false;
    }
  }

  private static ChildJvm holder(Kind kind, String address) {
    return ChildJvm.of(HolderMain.class)
        .jvmArgs("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx128m")
        .args(kind.name(), address, Scenario.DEATH.lock())
        .start();
  }

  private static Optional<Long> take(PeerLock wanted) throws Exception {
    Optional<AutoCloseable> lease = wanted.acquire(PATIENCE);
    if (lease.isEmpty()) {
      return Optional.empty();
    }
    long at = System.nanoTime();
    lease.get().close();
    return Optional.of(at);
  }
}
