package io.amqplocks.benchmarks.peers;

import io.amqplocks.benchmarks.Contention;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.LongAdder;

/**
 * What threads achieved that all wanted one lock for a slice of time, and held it for no time.
 *
 * @param inTime how many leases each thread acquired before the end
 * @param leases how many there were in all: whoever waits at the end acquires one more
 */
record Contest(List<Long> inTime, long leases) {

  Contest {
    inTime = List.copyOf(inTime);
  }

  /** With a thread for each of these. */
  static Contest of(List<PeerLock> locks, Duration time) throws Exception {
    LongAdder leases = new LongAdder();
    List<Callable<? extends AutoCloseable>> acquires = new ArrayList<>();
    for (PeerLock lock : locks) {
      acquires.add(
          () -> {
            AutoCloseable lease = lock.acquire();
            leases.increment();
            return lease;
          });
    }
    List<Long> inTime = Contention.each(acquires, time).stream().map(Contention::acquires).toList();
    return new Contest(inTime, leases.sum());
  }

  /** By all threads, before the end. */
  long sum() {
    return inTime.stream().mapToLong(Long::longValue).sum();
  }
}
