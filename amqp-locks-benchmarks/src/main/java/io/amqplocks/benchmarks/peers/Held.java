package io.amqplocks.benchmarks.peers;

import io.amqplocks.benchmarks.Heap;
import io.amqplocks.benchmarks.Samples;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

/**
 * One client acquires many locks of different names, one after the other, and keeps them. Then it
 * asks about each whether it is still held, where its system can be asked.
 */
final class Held {

  /** The first tenth and the last one are compared. A tenth more comes before, for warming up. */
  private static final int PART = 10;

  /** Who has failed so often to release what it holds would only wait for ever. */
  private static final int MOST_FAILURES = 3;

  private Held() {}

  static void measure(Systems systems, List<Kind> kinds, Effort effort, Recorder recorder) {
    for (Kind kind : kinds) {
      List<AutoCloseable> leases = new ArrayList<>();
      try {
        warmUp(systems, kind, effort.held() / PART);
        hold(systems, kind, effort.held(), leases, recorder);
        verify(kind, leases, recorder);
      } catch (Exception e) {
        recorder.fail(kind, e);
      } finally {
        release(kind, leases, recorder);
      }
    }
  }

  private static PeerLock lock(Systems systems, Kind kind, String name) throws Exception {
    return systems.client(kind.peer(), 0).lock(kind, Scenario.HELD.lock() + "-" + name);
  }

  private static void warmUp(Systems systems, Kind kind, int count) throws Exception {
    for (int i = 0; i < count; i++) {
      lock(systems, kind, "warm-up-" + i).acquire().close();
    }
  }

  private static void hold(
      Systems systems, Kind kind, int count, List<AutoCloseable> leases, Recorder recorder)
      throws Exception {
    PeerServer server = systems.server(kind.peer());
    OptionalLong before = memory(server);
    long heap = Heap.used();
    Samples first = new Samples();
    Samples last = new Samples();
    for (int i = 0; i < count; i++) {
      PeerLock lock = lock(systems, kind, Integer.toString(i));
      long start = System.nanoTime();
      leases.add(lock.acquire());
      double micros = (System.nanoTime() - start) / 1e3;
      if (i < count / PART) {
        first.add(micros);
      } else if (i >= count - count / PART) {
        last.add(micros);
        recorder.add(kind, Metric.LATENCY, micros);
      }
    }
    recorder.add(kind, Metric.GROWTH, growth(first, last));
    OptionalLong after = memory(server);
    recorder.add(kind, Metric.CLIENT_HEAP, (Heap.used() - heap) / (double) count);
    if (before.isPresent() && after.isPresent()) {
      double bytes = after.getAsLong() - before.getAsLong();
      recorder.add(kind, Metric.MEMORY, bytes / count);
    }
  }

  /** What the last ones take, by what the first ones took. */
  static double growth(Samples first, Samples last) {
    return last.median() / first.median();
  }

  private static OptionalLong memory(PeerServer server) throws InterruptedException {
    // What was asked for a moment before may still be at work.
    TimeUnit.MILLISECONDS.sleep(500);
    return ResidentMemory.of(server.processes().get());
  }

  /** Asks about each that can be asked about; throws if one is not held. */
  static void verify(Kind kind, List<AutoCloseable> leases, Recorder recorder) throws Exception {
    for (AutoCloseable each : leases) {
      if (each instanceof VerifiableLease lease) {
        long start = System.nanoTime();
        if (!lease.isHeld()) {
          throw new IllegalStateException("It is not held any more");
        }
        recorder.add(kind, Metric.VERIFICATION, (System.nanoTime() - start) / 1e3);
      }
    }
  }

  /** One that cannot be released does not keep the others, but a few do. */
  private static void release(Kind kind, List<AutoCloseable> leases, Recorder recorder) {
    int failures = 0;
    for (AutoCloseable lease : leases) {
      try {
        lease.close();
      } catch (Exception e) {
        if (failures == 0) {
          recorder.fail(kind, e);
        }
        failures++;
        if (failures == MOST_FAILURES) {
          return;
        }
      }
    }
  }
}
