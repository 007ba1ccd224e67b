package io.amqplocks.benchmarks;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;

/**
 * 1,000 tokens held in one session: what it takes to verify them all, eight at a time. The first
 * pass takes over tokens that were got by asking (ADR 40), so it is not counted.
 */
record ManyTokens() implements RowSource {

  private static final int TOKENS = 1_000;
  private static final int AT_ONCE = 8;

  @Override
  public String name() {
    return "verification of 1,000 tokens, one pass";
  }

  @Override
  public void measure(Lab lab, Consumer<Row> rows) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(AT_ONCE);
    try {
      for (TokenQueueType type : TokenQueueType.values()) {
        List<Lease> leases = hold(lab, type);
        long first = pass(pool, leases);
        Samples passes = new Samples();
        for (int i = 0; i < (lab.quick() ? 2 : 5); i++) {
          passes.add(pass(pool, leases));
        }
        rows.accept(
            Row.time(
                name() + ": " + type.name().toLowerCase(Locale.ROOT),
                passes,
                new Samples(),
                Goal.NONE,
                "eight at a time; the first pass %d ms".formatted(first / 1_000_000)));
        leases.forEach(Lease::close);
      }
    } finally {
      pool.shutdownNow();
    }
  }

  /** They are verified by this row alone. */
  private static List<Lease> hold(Lab lab, TokenQueueType type) throws Exception {
    Duration heartbeat = Duration.ofMinutes(2);
    AmqpLocks locks =
        lab.closing(
            lab.builder(lab.factory())
                .heartbeat(heartbeat)
                .callTimeout(Duration.ofMinutes(1))
                .verifyEvery(heartbeat.dividedBy(2))
                .build());
    String name = "many-" + type.name().toLowerCase(Locale.ROOT);
    lab.tokens(admin -> admin.tokenSemaphore(name), "token-semaphore." + name);
    locks.admin().tokenSemaphore(name).create(TOKENS, type);
    List<Lease> leases = new ArrayList<>();
    for (int i = 0; i < TOKENS; i++) {
      leases.add(locks.tokenSemaphore(name).tryAcquire().orElseThrow());
    }
    return leases;
  }

  private static long pass(ExecutorService pool, List<Lease> leases) throws Exception {
    List<Callable<LeaseState>> questions = new ArrayList<>();
    leases.forEach(lease -> questions.add(lease::verify));
    long start = System.nanoTime();
    for (Future<LeaseState> each : pool.invokeAll(questions)) {
      if (each.get() != LeaseState.HELD) {
        throw new IllegalStateException(
            "A token that nobody took is %s: %s"
                .formatted(
                    each.get(),
                    leases.stream().flatMap(lease -> lease.lossReason().stream()).toList()));
      }
    }
    return System.nanoTime() - start;
  }
}
