package io.amqplocks.benchmarks.peers;

import java.time.Duration;

/**
 * What one process of clients did in a slice of time.
 *
 * @param inTime how many leases it acquired before the end
 * @param leases how many in all: whoever waits at the end acquires one more
 * @param cpu how long it was on a processor for all of them
 */
record Work(long inTime, long leases, Duration cpu) {

  static Work parse(String words) {
    String[] numbers = words.split(" ", -1);
    return new Work(
        Long.parseLong(numbers[0]),
        Long.parseLong(numbers[1]),
        Duration.ofNanos(Long.parseLong(numbers[2])));
  }

  /** For {@link #parse}. */
  String words() {
    return inTime + " " + leases + " " + cpu.toNanos();
  }

  Work and(Work other) {
    return new Work(inTime + other.inTime, leases + other.leases, cpu.plus(other.cpu));
  }
}
