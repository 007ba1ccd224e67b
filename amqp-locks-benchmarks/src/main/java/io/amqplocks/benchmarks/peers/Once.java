package io.amqplocks.benchmarks.peers;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** What one thread asks for once: a lock that is new, or one that is busy. The kinds take turns. */
final class Once {

  private static final int TURN = 10;

  /** Of each turn: they wake up who sleeps. */
  private static final int NOT_COUNTED = 2;

  /** One turn of a kind. */
  @FunctionalInterface
  private interface Turn {

    /**
     * Asks as often as a turn has requests.
     *
     * @param first how often that kind was asked before
     */
    void run(Kind kind, int first) throws Exception;
  }

  private Once() {}

  /**
   * Acquires and releases a lock whose name nobody has used before. What its client does to make
   * the lock's object counts, because the first user waits for that too.
   */
  static void newNames(Systems systems, List<Kind> kinds, Effort effort, Recorder recorder) {
    inTurns(
        kinds,
        effort.names(),
        recorder,
        (kind, first) -> {
          for (int nth = 0; nth < TURN; nth++) {
            String name = Scenario.NEW_NAME.lock() + "-" + (first + nth);
            long start = System.nanoTime();
            systems.client(kind.peer(), 0).lock(kind, name).acquire().close();
            count(kind, nth, start, recorder);
          }
        });
  }

  /** Tries once to acquire what another client holds. It is held anew for each turn. */
  static void busy(Systems systems, List<Kind> kinds, Effort effort, Recorder recorder) {
    inTurns(
        kinds,
        effort.tries(),
        recorder,
        (kind, first) -> {
          PeerLock held = systems.lock(Scenario.BUSY, kind, 0);
          PeerLock wanted = systems.lock(Scenario.BUSY, kind, 1);
          List<AutoCloseable> leases = new ArrayList<>();
          try {
            while (leases.size() < kind.slots()) {
              leases.add(held.acquire());
            }
            for (int nth = 0; nth < TURN; nth++) {
              long start = System.nanoTime();
              Optional<AutoCloseable> lease = wanted.acquire(Duration.ZERO);
              count(kind, nth, start, recorder);
              if (lease.isPresent()) {
                leases.add(lease.get());
                throw new IllegalStateException("All of it is held, and it was acquired");
              }
            }
          } finally {
            for (AutoCloseable lease : leases) {
              lease.close();
            }
          }
        });
  }

  private static void count(Kind kind, int nth, long start, Recorder recorder) {
    if (nth >= NOT_COUNTED) {
      recorder.add(kind, Metric.LATENCY, (System.nanoTime() - start) / 1e3);
    }
  }

  private static void inTurns(List<Kind> kinds, int times, Recorder recorder, Turn turn) {
    List<Kind> left = new ArrayList<>(kinds);
    for (int first = 0; first < times; first += TURN) {
      for (Kind kind : List.copyOf(left)) {
        try {
          turn.run(kind, first);
        } catch (Exception e) {
          recorder.fail(kind, e);
          left.remove(kind);
        }
      }
    }
  }
}
