package io.amqplocks.benchmarks;

import com.rabbitmq.client.Address;
import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.internal.broker.Connector;
import io.amqplocks.internal.broker.QueueNames;
import io.amqplocks.internal.broker.Ticker;
import io.amqplocks.internal.session.Sessions;
import io.amqplocks.internal.tokens.admin.AdminTurn;
import io.amqplocks.internal.tokens.admin.KeySweeping;
import io.amqplocks.lock.LockId;
import java.time.Clock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.function.Consumer;

/**
 * What it takes to look at the token semaphore of a key that nobody uses, and to remove it at the
 * second look (ADR 65). Each has one token, so it is three queues with a message each. The sweeps
 * leave nothing of it.
 */
record SweptKeys() implements RowSource {

  private static final LockId NAME = LockId.tokenSemaphore("swept");
  private static final Duration BOUND = Duration.ofSeconds(30);
  private static final int KEYS = 10;

  @Override
  public String name() {
    return "sweep of unused keys, for a key";
  }

  @Override
  public void measure(Lab lab, Consumer<Row> rows) throws Exception {
    AmqpLocks locks = lab.locks();
    KeySweeping sweeping = new KeySweeping(turn(lab));
    Raw raw = new Raw(lab.channel());
    int created = 0;
    for (TokenQueueType type : TokenQueueType.values()) {
      String kind = type.name().toLowerCase(Locale.ROOT);
      Samples looks = new Samples();
      Samples removals = new Samples();
      Samples rawLooks = new Samples();
      Samples rawRemovals = new Samples();
      for (int round = 0; round < (lab.quick() ? 1 : 3); round++) {
        List<String> queues = new ArrayList<>();
        for (int key = 0; key < KEYS; key++) {
          String name = "swept:" + ++created;
          locks.admin().tokenSemaphore(name).create(1, type);
          for (String queueType : List.of(kind, "quorum", "quorum")) {
            String queue =
                lab.leaving(lab.prefix() + "floor.swept." + created + "." + queues.size());
            raw.declareToken(queue, queueType);
            queues.add(queue);
          }
        }
        looks.add(each(() -> requireKept(sweeping)));
        rawLooks.add(each(() -> forEach(queues, raw::getAndReturn)));
        removals.add(each(() -> remove(sweeping)));
        rawRemovals.add(each(() -> forEach(queues, raw::delete)));
      }
      rows.accept(
          Row.time(
              name() + ": a look, " + kind,
              looks,
              rawLooks,
              Goal.NONE,
              "get + return of its 3 messages"));
      rows.accept(
          Row.time(
              name() + ": removal, " + kind,
              removals,
              rawRemovals,
              Goal.NONE,
              "3 deletes; ours looks again before it"));
    }
  }

  /** Two hours ahead, because a key that was created within the last hour stays. */
  private static AdminTurn turn(Lab lab) {
    ConnectionFactory factory = lab.factory();
    ExecutorService background = Executors.newCachedThreadPool();
    lab.<AutoCloseable>closing(background::shutdownNow);
    Connector connector =
        new Connector(
            factory,
            List.of(new Address(factory.getHost(), factory.getPort())),
            "bench sweep",
            BOUND,
            BOUND,
            Thread::new);
    Sessions sessions =
        new Sessions(
            connector, "holder", background, Thread::new, BOUND, Ticker.SYSTEM, session -> {});
    lab.<AutoCloseable>closing(sessions::close);
    QueueNames names = new QueueNames(lab.prefix());
    lab.leaving(names.keys(NAME));
    Clock clock = Clock.offset(Clock.systemUTC(), Duration.ofHours(2));
    return new AdminTurn(NAME, names, sessions, BOUND, Ticker.SYSTEM, clock, BOUND);
  }

  private static long each(Timed.Step step) throws Exception {
    return Timed.of(step).nanos() / KEYS;
  }

  private static void requireKept(KeySweeping sweeping) {
    if (sweeping.sweep(Duration.ZERO).kept() != KEYS) {
      throw new IllegalStateException("A first look removes nothing");
    }
  }

  /** A key whose token is still on its way back from the last look needs another one. */
  private static void remove(KeySweeping sweeping) {
    for (int removed = 0; removed < KEYS; ) {
      removed += sweeping.sweep(Duration.ZERO).removed().size();
    }
  }

  private interface ForQueue {
    void take(String queue) throws Exception;
  }

  private static void forEach(List<String> queues, ForQueue step) throws Exception {
    for (String queue : queues) {
      step.take(queue);
    }
  }
}
