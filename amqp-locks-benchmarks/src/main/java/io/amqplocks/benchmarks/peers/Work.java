package io.amqplocks.benchmarks.peers;

import java.time.Duration;

/**
 * What one process of clients did in a slice of time.
 *
 * @param threads how many threads wanted the lock
 * @param inTime how many leases they acquired before the end
 * @param leases how many in all: whoever waits at the end acquires one more
 * @param cpu how long the process was on a processor for all of them
 */
record Work(int threads, long inTime, long leases, Duration cpu) {

  static Work parse(String words) {
    String[] numbers = words.split(" ", -1);
    return new Work(
        Integer.parseInt(numbers[0]),
        Long.parseLong(numbers[1]),
        Long.parseLong(numbers[2]),
        Duration.ofNanos(Long.parseLong(numbers[3])));
  }

  /** For {@link #parse}. */
  String words() {
    return threads + " " + inTime + " " + leases + " " + cpu.toNanos();
  }

  Work and(Work other) {
    return new Work(
        threads + other.threads, inTime + other.inTime, leases + other.leases, cpu.plus(other.cpu));
  }
}
