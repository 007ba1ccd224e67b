package io.amqplocks.benchmarks;

import com.rabbitmq.client.Channel;
import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.AmqpLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Eight clients that want one lock, each with a connection of its own, side by side for each kind
 * of lock and for the bare client. The goals are ratios to Redisson's, converted to the machine on
 * which both were measured.
 */
record SeparateClients() implements RowSource {

  private static final int CLIENTS = 8;
  private static final int TURNS = 5;
  private static final String RAW = "mutex, the bare client";
  private static final String MUTEX = "mutex";
  private static final String CLASSIC = "5 classic tokens";
  private static final String THREE = "3 of 5 classic tokens at once";

  @Override
  public String name() {
    return "%d separate clients".formatted(CLIENTS);
  }

  @Override
  public void measure(Lab lab, Consumer<Row> rows) throws Exception {
    List<AmqpLocks> clients = new ArrayList<>();
    List<ActiveConsumerLoop> bare = new ArrayList<>();
    Channel first = lab.channel();
    String queue = ActiveConsumerLoop.declare(lab, first, "separate");
    for (int i = 0; i < CLIENTS; i++) {
      clients.add(lab.locks());
      bare.add(new ActiveConsumerLoop(lab.channel(), queue));
    }
    lab.tokens(admin -> admin.tokenSemaphore("five"), "token-semaphore.five");
    clients.get(0).admin().tokenSemaphore("five").create(5, TokenQueueType.CLASSIC);
    lab.tokens(admin -> admin.fencedMutex("fenced"), "fenced-mutex.fenced");
    // Made here: on a busy machine, seven that wait for its creation may wait too long.
    clients.get(0).fencedMutex("fenced").acquire(lab.time()).close();
    Map<String, Function<AmqpLocks, AmqpLock>> kinds = new LinkedHashMap<>();
    kinds.put(MUTEX, locks -> locks.mutex("separate"));
    kinds.put("exclusive-queue mutex", locks -> locks.exclusiveQueueMutex("separate-exclusive"));
    kinds.put("fenced mutex", locks -> locks.fencedMutex("fenced"));
    kinds.put(CLASSIC, locks -> locks.tokenSemaphore("five"));
    kinds.put(THREE, locks -> locks.tokenSemaphore("five").withPermits(3));
    Map<String, Samples> perSecond = new LinkedHashMap<>();
    Map<String, Long> longest = new LinkedHashMap<>();
    Duration slice = lab.time().dividedBy(TURNS);
    for (int turn = 0; turn <= TURNS; turn++) {
      Map<String, Long> had = new LinkedHashMap<>();
      had.put(RAW, bare(bare, slice));
      for (Map.Entry<String, Function<AmqpLocks, AmqpLock>> kind : kinds.entrySet()) {
        Contention all = Contention.of(clients.stream().map(kind.getValue()).toList(), slice);
        had.put(kind.getKey(), all.acquires());
        longest.merge(kind.getKey(), all.longestWait(), Math::max);
      }
      // The first turn is for warming up.
      if (turn > 0) {
        had.forEach(
            (kind, count) ->
                perSecond
                    .computeIfAbsent(kind, same -> new Samples())
                    .add(count * 1e9 / slice.toNanos()));
      }
    }
    kinds
        .keySet()
        .forEach(
            kind ->
                rows.accept(
                    new Row(
                        kind + ", " + name(),
                        Unit.PER_SECOND,
                        median(perSecond, kind),
                        floor(perSecond, kind),
                        goal(kind),
                        remark(kind)
                            + "longest wait %d ms"
                                .formatted(longest.getOrDefault(kind, 0L) / 1_000_000))));
  }

  private static double floor(Map<String, Samples> perSecond, String kind) {
    return switch (kind) {
      case MUTEX -> median(perSecond, RAW);
      case THREE -> median(perSecond, CLASSIC);
      default -> Double.NaN;
    };
  }

  private static String remark(String kind) {
    return switch (kind) {
      case MUTEX -> "the bare client's, eight connections; ";
      case THREE -> "one token at a time, in turns; ";
      default -> "";
    };
  }

  private static double median(Map<String, Samples> samples, String kind) {
    return Objects.requireNonNull(samples.get(kind)).median();
  }

  private static Goal goal(String kind) {
    return switch (kind) {
      case MUTEX -> Goal.atLeast(3_000, Unit.PER_SECOND);
      case CLASSIC -> Goal.atLeast(12_000, Unit.PER_SECOND);
      default -> Goal.NONE;
    };
  }

  private static long bare(List<ActiveConsumerLoop> clients, Duration slice) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(clients.size());
    try {
      long end = System.nanoTime() + slice.toNanos();
      List<Callable<Long>> loops = new ArrayList<>();
      for (ActiveConsumerLoop client : clients) {
        loops.add(
            () -> {
              long count = 0;
              for (; end - System.nanoTime() > 0; count++) {
                client.run();
              }
              return count;
            });
      }
      long sum = 0;
      for (Future<Long> each : pool.invokeAll(loops)) {
        sum += each.get();
      }
      return sum;
    } finally {
      pool.shutdownNow();
    }
  }
}
