package io.amqplocks.benchmarks.peers;

import io.amqplocks.benchmarks.Unit;

/** What a number of a measurement is. */
enum Metric {
  /** Microseconds; a number for each operation. */
  LATENCY(Unit.MICROS, true),
  /** Acquisitions in a second; a number for each pass. */
  RATE(Unit.PER_SECOND, false),
  /** What the least served client or process got, by the average; a number for each pass. */
  LEAST_SHARE(Unit.SHARE, false),
  /** Microseconds that the server was on a processor for a lease; a number for each pass. */
  SERVER_CPU(Unit.MICROS, true),
  /** Microseconds that all clients were on a processor for a lease; a number for each pass. */
  CLIENT_CPU(Unit.MICROS, true),
  /** The median latency of the last locks by that of the first ones. */
  GROWTH(Unit.TIMES, true),
  /** By which the server's memory has grown, for each lock that is held. */
  MEMORY(Unit.BYTES, true),
  /** By which the client's heap has grown, after a collection, for each lock that is held. */
  CLIENT_HEAP(Unit.BYTES, true),
  /** Microseconds; a number for each lock that was asked about. */
  VERIFICATION(Unit.MICROS, true),
  /** Microseconds; a number for each death. Infinite if nobody could acquire it. */
  FREED(Unit.MICROS, true);

  private final Unit unit;
  private final boolean lessIsBetter;

  Metric(Unit unit, boolean lessIsBetter) {
    this.unit = unit;
    this.lessIsBetter = lessIsBetter;
  }

  Unit unit() {
    return unit;
  }

  boolean lessIsBetter() {
    return lessIsBetter;
  }
}
