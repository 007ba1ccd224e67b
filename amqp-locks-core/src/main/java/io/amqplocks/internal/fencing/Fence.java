package io.amqplocks.internal.fencing;

import io.amqplocks.internal.fencing.KnownGenerations.Slot;
import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.CounterReading;
import io.amqplocks.internal.session.Futures;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.topology.QueueNames;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.util.OptionalInt;

/**
 * Draws fencing tokens from the counters at the broker, and fails closed: whatever is wrong with a
 * counter, there is no token.
 *
 * <p>Concurrency: which generation of a slot's counter is in use is remembered, and may be out of date
 * at any time. That does no harm: a counter is deleted before the next one comes into use, so an old
 * one gives no tokens, and the next is then looked for at the broker.
 */
public final class Fence implements TokenSource {

  private static final long PAUSE_NANOS = 2_000_000;

  private final QueueNames names;
  private final CounterMaking making;
  private final KnownGenerations generations = new KnownGenerations();

  /** Of the locks with such names. */
  public Fence(QueueNames names, CounterMaking making) {
    this.names = names;
    this.making = making;
  }

  @Override
  public FencingToken draw(Call call, Session session, LockId lock, int slot) {
    Slot key = new Slot(lock, slot);
    OptionalInt remembered = generations.of(key);
    int generation = remembered.isPresent() ? remembered.getAsInt() : first(call, session, key);
    while (true) {
      String queue = names.counter(lock, slot, generation);
      CounterReading reading = session.counters().read(call, queue);
      switch (reading.outcome()) {
        case READ -> {
          return token(call, session, slot, queue, reading);
        }
        case EMPTY -> pause(call, queue);
        case ABSENT -> {
          int newest = newest(call, session, key, generation);
          if (newest == generation) {
            throw unavailable(call, "its counter " + queue + " was deleted");
          }
          generation = newest;
          generations.put(key, generation);
        }
      }
    }
  }

  /** The slot is new to this process: it may have had any number of counters, or none yet. */
  private int first(Call call, Session session, Slot slot) {
    int newest = newest(call, session, slot, 0);
    int generation = newest == 0 ? making.begin(call, session, slot.lock(), slot.number()) : newest;
    generations.put(slot, generation);
    return generation;
  }

  private int newest(Call call, Session session, Slot slot, int from) {
    int newest = from;
    while (session.counters().exists(call, names.epoch(slot.lock(), slot.number(), newest + 1))) {
      newest++;
    }
    return newest;
  }

  private FencingToken token(
      Call call, Session session, int slot, String queue, CounterReading reading) {
    if (reading.others() > 0) {
      throw unavailable(call, "its counter " + queue + " has more than one message");
    }
    CounterContent content =
        CounterContent.parse(reading.content())
            .filter(making::isBelievable)
            .orElseThrow(() -> unavailable(call, "in counter " + queue + " is a foreign message"));
    int brokerMajor = session.counters().brokerMajor(call);
    if (content.brokerMajor() != brokerMajor) {
      throw unavailable(
          call,
          "its counter %s is of RabbitMQ %d, and RabbitMQ %d counts anew"
              .formatted(queue, content.brokerMajor(), brokerMajor));
    }
    if (reading.returns() > FencingToken.MAX_N) {
      throw unavailable(call, "its counter " + queue + " is used up");
    }
    return new FencingToken(slot, content.epoch(), reading.returns());
  }

  /** Empty is what a counter is while another reads it, for less than a round trip. */
  private static void pause(Call call, String queue) {
    if (call.remainingNanos() <= PAUSE_NANOS) {
      throw unavailable(
          call,
          "its counter %s was empty for %d ms; if that lasts longer than three heartbeats, its"
                  .formatted(queue, call.bound().toMillis())
              + " message was taken by somebody or dropped by a policy (delivery-limit, message-ttl)");
    }
    Futures.pause(PAUSE_NANOS);
  }

  private static LockException.FenceUnavailable unavailable(Call call, String why) {
    return new LockException.FenceUnavailable(
        "There is no fencing token of %s: %s; an administrator must see why, and renew it with"
                .formatted(call.lock(), why)
            + " admin().fence(lock).renew(slot)");
  }
}
