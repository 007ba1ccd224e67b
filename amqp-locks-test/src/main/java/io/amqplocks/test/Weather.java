package io.amqplocks.test;

import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicLong;

/** What the network does to bytes, for each of the two directions. */
class Weather {

  private final Map<Direction, AtomicBoolean> blackHoles = new EnumMap<>(Direction.class);
  private final Map<Direction, AtomicLong> delays = new EnumMap<>(Direction.class);

  Weather() {
    for (Direction direction : Direction.values()) {
      blackHoles.put(direction, new AtomicBoolean());
      delays.put(direction, new AtomicLong());
    }
  }

  void blackHole(Direction direction) {
    blackHoles.forEach((one, swallows) -> swallows.set(swallows.get() || direction.covers(one)));
  }

  void delay(Direction direction, Duration delay) {
    delays.forEach(
        (one, nanos) -> nanos.set(direction.covers(one) ? delay.toNanos() : nanos.get()));
  }

  void clear() {
    blackHoles.values().forEach(swallows -> swallows.set(false));
    delays.values().forEach(nanos -> nanos.set(0));
  }

  boolean swallows(Direction one) {
    AtomicBoolean swallows = blackHoles.get(one);
    return swallows != null && swallows.get();
  }

  long delayNanos(Direction one) {
    AtomicLong nanos = delays.get(one);
    return nanos == null ? 0 : nanos.get();
  }
}
