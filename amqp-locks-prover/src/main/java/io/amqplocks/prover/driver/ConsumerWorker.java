package io.amqplocks.prover.driver;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.consumer.Delivery;
import io.amqplocks.consumer.SoleConsumer;
import io.amqplocks.consumer.SoleConsumerBuilder;
import io.amqplocks.leader.LeaderListener;
import io.amqplocks.leader.Leadership;
import io.amqplocks.leader.Revocation;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.LockException;
import io.amqplocks.prover.driver.Event.What;
import java.time.Duration;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Consumes a queue whenever it is its turn, and says what it sees. To the prover, a term is a
 * lease. It becomes the active consumer in three ways, one after the other: it stands by, takes
 * over, or tries. It stops in two ways: it hands over, or closes.
 *
 * <p>Concurrency: terms begin and end on the thread of the election's listeners, messages are
 * handled on the consumer's, and a third one asks the term. A look at the term and what is said of
 * it happen under one guard. So it never says that it is certain of a term whose end it has told.
 */
final class ConsumerWorker {

  /** How often it asks the term. */
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  /** How long the message in hand may take when a term ends. */
  private static final Duration GRACE = Duration.ofSeconds(1);

  /** Of one consumer, before it is closed and another one made. */
  private static final int MOST_TERMS = 3;

  /** One in so many messages fails at the first attempt. */
  private static final int FAILS = 50;

  private enum Way {
    STANDS_BY,
    TAKES_OVER,
    TRIES
  }

  private record Term(int cycle, Leadership leadership) {}

  private final Command command;
  private final AmqpLock lock;
  private final ConnectionFactory factory;
  private final ConsumedQueue queue;
  private final boolean hasActiveQueue;
  private final Consumer<Event> out;
  private final BlockingQueue<Term> terms = new LinkedBlockingQueue<>();
  private int consumers;
  private int cycle;
  private long asked;

  /** A term that was not given up yet, as far as is known; 0 if there is none. */
  private int open;

  ConsumerWorker(
      Command command,
      AmqpLock lock,
      ConnectionFactory factory,
      ConsumedQueue queue,
      boolean hasActiveQueue,
      Consumer<Event> out) {
    this.command = command;
    this.lock = lock;
    this.factory = factory;
    this.queue = queue;
    this.hasActiveQueue = hasActiveQueue;
    this.out = out;
  }

  void work() throws InterruptedException {
    while (left() > 0) {
      next();
      Way way = Way.values()[(int) ((command.id() + consumers) % Way.values().length)];
      try (SoleConsumer consumer = consumer()) {
        if (begins(consumer, way)) {
          live(consumer);
        }
      } catch (LockException e) {
        closed(What.FAILED, e.toString());
      }
      closed(What.BUSY, null);
      TimeUnit.MICROSECONDS.sleep(Math.max(20_000, command.pauseMicros()));
    }
  }

  private long left() {
    return command.untilNanos() - System.nanoTime();
  }

  private SoleConsumer consumer() {
    int number = consumers;
    SoleConsumerBuilder settings =
        SoleConsumer.of(lock, factory, queue.name(), delivery -> handle(delivery, number))
            .grace(GRACE)
            .handOverOnRequest()
            .listener(new Terms(number));
    if (hasActiveQueue) {
      settings.activeQueue(queue.ingress(), "");
    }
    return settings.build();
  }

  /** Returns whether it contends from now on. */
  private boolean begins(SoleConsumer consumer, Way way) throws InterruptedException {
    switch (way) {
      case STANDS_BY -> consumer.start();
      case TAKES_OVER -> {
        long most = TimeUnit.MILLISECONDS.toNanos(Math.max(1_000, command.waitMillis()));
        boolean unused = consumer.takeOver(Duration.ofNanos(Math.min(Math.max(0, left()), most)));
      }
      case TRIES -> {
        return consumer.tryStart();
      }
    }
    return true;
  }

  private void live(SoleConsumer consumer) throws InterruptedException {
    for (int i = 1; i <= MOST_TERMS; i++) {
      Term term = terms.poll(Math.max(0, left()), TimeUnit.NANOSECONDS);
      if (term == null) {
        return;
      }
      long end = System.nanoTime() + TimeUnit.MICROSECONDS.toNanos(command.holdMicros());
      boolean current = look(term);
      while (current && System.nanoTime() < end) {
        TimeUnit.NANOSECONDS.sleep(Math.min(LOOK_NANOS, Math.max(1, end - System.nanoTime())));
        current = look(term);
      }
      if (i < MOST_TERMS) {
        boolean unused = consumer.handOver();
      }
    }
  }

  /** A message without a number is a stranger's. */
  private void handle(Delivery delivery, int consumer) throws InterruptedException {
    long begin = System.nanoTime();
    String id = delivery.properties().getMessageId();
    if (id == null) {
      return;
    }
    long number = Long.parseLong(id);
    if (number % FAILS == FAILS - 1 && delivery.failures() == 0) {
      throw new IllegalStateException("Message " + number + " fails at the first attempt");
    }
    TimeUnit.MICROSECONDS.sleep(command.pauseMicros());
    out.accept(
        new Event(command.id(), 0, What.HANDLED, begin, System.nanoTime(), consumer, number, null));
  }

  private synchronized boolean look(Term term) {
    long before = System.nanoTime();
    boolean current = term.leadership().isCurrent();
    if (current) {
      say(term.cycle(), What.HELD, before, token(term.leadership()), null);
    } else {
      // Listeners are notified later, when the consumer has stopped.
      say(term.cycle(), What.UNCERTAIN, System.nanoTime(), 0, null);
    }
    return current;
  }

  private synchronized void next() {
    consumers++;
    asks();
  }

  private synchronized void asks() {
    cycle++;
    asked = System.nanoTime();
    say(cycle, What.ASKS, asked, 0, null);
  }

  /** It was closed: what it had is given up. */
  private synchronized void closed(What ifNothing, @Nullable String detail) {
    released();
    terms.clear();
    if (asked != 0) {
      say(cycle, ifNothing, System.nanoTime(), 0, detail);
      asked = 0;
    }
  }

  /** A new term shows that the one before was given up. */
  private void released() {
    if (open != 0) {
      say(open, What.RELEASED, System.nanoTime(), 0, null);
      open = 0;
    }
  }

  /** Of one consumer. Its last call may come when the next one has begun, and says nothing then. */
  private final class Terms implements LeaderListener {
    private final int consumer;

    Terms(int consumer) {
      this.consumer = consumer;
    }

    @Override
    public void granted(Leadership leadership) {
      termBegins(consumer, leadership);
    }

    @Override
    public void revoked(Leadership leadership, Revocation why) {
      termEnds(consumer, why);
    }
  }

  private synchronized void termBegins(int consumer, Leadership leadership) {
    if (consumer == consumers && asked != 0) {
      released();
      say(cycle, What.ACQUIRED, System.nanoTime(), token(leadership), null);
      open = cycle;
      asked = 0;
      terms.add(new Term(cycle, leadership));
    }
  }

  /** It contends again, unless it is closed. */
  private synchronized void termEnds(int consumer, Revocation why) {
    if (consumer != consumers || open != cycle) {
      return;
    }
    What what =
        switch (why.cause()) {
          case CLOSED, YIELDED, TASK_ENDED -> What.UNCERTAIN;
          case UNCERTAIN, LOST -> What.LOST;
        };
    say(cycle, what, System.nanoTime(), 0, why.toString());
    if (what == What.LOST) {
      // What became of it at the broker is not known.
      released();
    }
    asks();
  }

  private static long token(Leadership leadership) {
    return leadership.fencingToken().map(FencingToken::number).orElse(0L);
  }

  private void say(int of, What what, long at, long token, @Nullable String detail) {
    out.accept(new Event(command.id(), of, what, asked, at, 1, token, detail));
  }
}
