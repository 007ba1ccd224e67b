package io.amqplocks.sample.demo;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * What a worker's endpoint {@code amqplocks} says of its slots.
 *
 * @param at the {@link System#nanoTime()} at which it was asked
 * @param session the state of its session with the broker
 * @param waiting how many of its calls wait
 * @param leases what it holds
 * @param atBroker the broker's own count, if the broker answered
 */
record WorkerReport(
    long at, String session, int waiting, List<Held> leases, @Nullable AtBroker atBroker) {

  /** A lease, how old it is, and how long ago the broker has confirmed it. */
  record Held(int slot, Scene.Sure sure, Duration age, Duration unconfirmed) {}

  /** The slots of all processes together. */
  record AtBroker(int slots, int inUse) {}

  /** Reads the answer to {@code GET /actuator/amqplocks}, which has one lock. */
  static WorkerReport read(JsonNode answer, long at) {
    JsonNode lock = answer.path("locks").path(0);
    JsonNode here = lock.path("here");
    List<Held> leases = new ArrayList<>();
    for (JsonNode lease : here.path("leases")) {
      leases.add(
          new Held(
              lease.path("slot").asInt(),
              Scene.Sure.valueOf(lease.path("state").asString()),
              Duration.parse(lease.path("age").asString()),
              Duration.parse(lease.path("unconfirmedFor").asString())));
    }
    JsonNode broker = lock.path("broker");
    return new WorkerReport(
        at,
        answer.path("session").path("state").asString("UNKNOWN"),
        here.path("waiting").asInt(0),
        leases,
        broker.has("inUse")
            ? new AtBroker(broker.path("slots").asInt(), broker.path("inUse").asInt())
            : null);
  }

  /** The lease on this slot, if there was one. */
  Optional<Held> lease(int slot) {
    return leases.stream().filter(lease -> lease.slot() == slot).findAny();
  }
}
