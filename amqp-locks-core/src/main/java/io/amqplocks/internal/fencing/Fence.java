package io.amqplocks.internal.fencing;

import io.amqplocks.internal.broker.BoundedMap;
import io.amqplocks.internal.broker.BrokerProfile;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.FenceCounter;
import io.amqplocks.internal.broker.Futures;
import io.amqplocks.internal.broker.MessageReading;
import io.amqplocks.internal.broker.QueueNames;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockName;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Draws fencing tokens from the counters at the broker. It fails closed: if anything is wrong with
 * a counter, no token is drawn.
 *
 * <p>Concurrency: the generation of a counter that is in use is cached. The cache may be outdated
 * at any time. That is harmless, because a counter is deleted before the next one comes into use.
 * So an old counter gives no tokens, and the next one is then looked for at the broker. Any number
 * of threads, here and in other processes, may draw from one counter: the broker gives its message
 * to one at a time. Within a process they take turns before that (see {@link DrawTurns}), which
 * saves requests and is needed for nothing else.
 */
public final class Fence implements FencingTokenSource {

  private static final long PAUSE_FROM_NANOS = 1_000_000;
  private static final long PAUSE_TO_NANOS = 8_000_000;

  private final QueueNames names;
  private final CounterFactory making;
  private final BoundedMap<FenceCounter, Integer> generations = new BoundedMap<>();
  private final DrawTurns turns = new DrawTurns();
  private final RecentReads reads = new RecentReads();

  /** Creates the fences of locks whose queues have those names. */
  public Fence(QueueNames names, CounterFactory making) {
    this.names = names;
    this.making = making;
  }

  @Override
  public FencingToken draw(Call call, Session session, LockId lock, int slot) {
    FenceCounter counter = FenceCounter.of(lock, slot);
    return turns.inTurn(call, counter, () -> draw(call, session, counter, slot));
  }

  private FencingToken draw(Call call, Session session, FenceCounter counter, int slot) {
    Integer remembered = generations.get(counter);
    int generation = remembered == null ? first(call, session, counter) : remembered;
    while (true) {
      String queue = names.counter(counter, generation);
      MessageReading reading = session.reader().read(call, queue);
      switch (reading.outcome()) {
        case READ -> {
          reads.add(counter, call.ticker().nanos());
          return token(call, session, slot, queue, reading);
        }
        case EMPTY -> pause(call, counter, queue);
        case ABSENT -> {
          int newest = newest(call, session, counter, generation);
          if (newest == generation) {
            // Or the broker lost all generations, and an administrator began with the first again.
            newest = newest(call, session, counter, 0);
          }
          if (newest == generation || newest == 0) {
            throw unavailable(call, "its counter " + queue + " was deleted");
          }
          generation = newest;
          generations.put(counter, generation);
        }
      }
    }
  }

  /**
   * Finds the generation of a counter that is new to this process. The counter may have had any
   * number of them, or none yet.
   */
  private int first(Call call, Session session, FenceCounter counter) {
    int newest = newest(call, session, counter, 0);
    int generation = newest == 0 ? making.begin(call, session, counter) : newest;
    generations.put(counter, generation);
    return generation;
  }

  private int newest(Call call, Session session, FenceCounter counter, int from) {
    int newest = from;
    while (session.reader().exists(call, names.epoch(counter, newest + 1))) {
      newest++;
    }
    return newest;
  }

  private FencingToken token(
      Call call, Session session, int slot, String queue, MessageReading reading) {
    if (reading.others() > 0) {
      throw unavailable(call, "its counter " + queue + " has more than one message");
    }
    CounterContent content =
        CounterContent.parse(reading.content())
            .filter(making::isBelievable)
            .orElseThrow(() -> unavailable(call, "in counter " + queue + " is a foreign message"));
    BrokerProfile broker = session.reader().broker(call);
    broker.requireFences(call);
    int brokerMajor = broker.major();
    if (content.brokerMajor() != brokerMajor) {
      throw unavailable(
          call,
          "its counter %s is of RabbitMQ %d, and RabbitMQ %d counts anew"
              .formatted(queue, content.brokerMajor(), brokerMajor));
    }
    if (reading.returns() > FencingToken.MAX_N) {
      throw unavailable(call, "its counter " + queue + " is used up");
    }
    FencingToken token = new FencingToken(slot, content.epoch(), reading.returns());
    if (!making.isBelowLaterOnes(token)) {
      throw unavailable(
          call, "the numbers of its counter %s are ahead of this machine's clock".formatted(queue));
    }
    return token;
  }

  /**
   * Pauses before an empty counter is read again. A counter is empty while another client reads it,
   * for less than a round trip. Pauses are random, so that clients do not meet at each try. The
   * last tenth of the bound is for the reply to the last try.
   */
  private void pause(Call call, FenceCounter counter, String queue) {
    long pause = ThreadLocalRandom.current().nextLong(PAUSE_FROM_NANOS, PAUSE_TO_NANOS);
    if (call.remainingNanos() <= Math.max(pause, call.bound().toNanos() / 10)) {
      throw empty(call, counter, queue);
    }
    Futures.pause(pause);
  }

  private LockException empty(Call call, FenceCounter counter, String queue) {
    if (reads.has(counter, call.ticker().nanos())) {
      return LockException.Unanswered.contended(
          "No fencing token of %s could be drawn within %d ms, because its counter %s was in use by"
                  .formatted(call.lock(), call.bound().toMillis(), queue)
              + " other clients at each try; other keys or readers share it. Try again");
    }
    return unavailable(
        call,
        "its counter %s was empty for %d ms; if that lasts longer than three heartbeats, its"
                .formatted(queue, call.bound().toMillis())
            + " message was taken by somebody or dropped by a policy (delivery-limit, message-ttl)");
  }

  private static LockException.FenceUnavailable unavailable(Call call, String why) {
    return new LockException.FenceUnavailable(
        "There is no fencing token of %s: %s; an administrator must see why, and renew it with"
                .formatted(call.lock(), why)
            + " admin().fence(lock).renew(slot)"
            + call.lock().name().withoutKey().map(Fence::orAllKeys).orElse(""));
  }

  private static String orAllKeys(LockName name) {
    return ", or those of all keys of '" + name + "' with renewKeys()";
  }
}
