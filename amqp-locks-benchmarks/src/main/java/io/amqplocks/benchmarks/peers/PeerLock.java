package io.amqplocks.benchmarks.peers;

import java.time.Duration;
import java.util.Optional;

/** A lock of any system, as one of its clients has it. Threads may share it. */
@FunctionalInterface
interface PeerLock {

  /** Longer than anybody waits in a scenario where nobody dies. */
  Duration PATIENCE = Duration.ofSeconds(30);

  /**
   * Acquires it.
   *
   * @param wait how long to wait for it; zero is once
   * @return what releases it, on the thread that acquired it; empty if others had it all that time
   */
  Optional<AutoCloseable> acquire(Duration wait) throws Exception;

  /** Acquires it, or throws if others had it for too long. */
  default AutoCloseable acquire() throws Exception {
    return acquire(PATIENCE)
        .orElseThrow(() -> new IllegalStateException("Not acquired in " + PATIENCE));
  }
}
