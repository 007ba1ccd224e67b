package io.amqplocks.benchmarks.scale;

import io.amqplocks.AmqpLocks;
import io.amqplocks.benchmarks.Contention;
import io.amqplocks.benchmarks.Lab;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/**
 * Locks of one kind on a broker that has no others: more and more of them used, held and waited
 * for, by a few clients; and each operation over and over.
 */
final class LockPhase implements AutoCloseable {

  private static final int CLIENTS = 4;
  private static final int AT_ONCE = 8;
  private static final String ALONE = "alone";
  private static final Duration PATIENCE = Duration.ofMinutes(1);

  /** Longer than anything here takes. */
  private static final Duration UNTIL_CANCELLED = Duration.ofMinutes(30);

  private final Lab lab;
  private final BrokerProcess broker;
  private final Effort effort;
  private final Kind kind;
  private final Findings findings;
  private final List<AmqpLocks> holders = new ArrayList<>();
  private final List<AmqpLocks> waiters = new ArrayList<>();
  private final ExecutorService pool = Executors.newFixedThreadPool(AT_ONCE);
  private int created;

  LockPhase(Lab lab, BrokerProcess broker, Effort effort, Kind kind, Findings findings) {
    this.lab = lab;
    this.broker = broker;
    this.effort = effort;
    this.kind = kind;
    this.findings = findings;
    for (int i = 0; i < CLIENTS; i++) {
      holders.add(lab.locks());
      waiters.add(lab.locks());
    }
  }

  /** Measures all of it. */
  void measure() throws Exception {
    kind.create(holders.get(0), ALONE);
    operations();
    connect(holders);
    used();
    List<Lease> leases = held();
    connect(waiters);
    waitedFor();
    leases.forEach(Lease::close);
  }

  /** Opens all connections that they need, which are not what is counted. */
  private void connect(List<AmqpLocks> clients) throws Exception {
    each(0, CLIENTS * AT_ONCE, i -> lock(clients, ALONE, i).acquire(PATIENCE).close());
  }

  private void operations() throws Exception {
    AmqpLock lock = lock(holders, ALONE, 0);
    AmqpLock rival = lock(waiters, ALONE, 0);
    repeat(Operation.CYCLE, () -> cycles(lock));
    List<Callable<? extends AutoCloseable>> both =
        List.of(() -> lock.acquire(PATIENCE), () -> rival.acquire(PATIENCE));
    repeat(
        Operation.HAND_OVER,
        () -> Contention.each(both, effort.pass()).stream().mapToLong(Contention::acquires).sum());
    try (Lease lease = lock.acquire(PATIENCE)) {
      repeat(Operation.VERIFICATION, () -> repeated(lease::verify));
    }
  }

  private long cycles(AmqpLock lock) throws Exception {
    return repeated(() -> lock.tryAcquire().orElseThrow().close());
  }

  private long repeated(Step step) throws Exception {
    long count = 0;
    for (long end = System.nanoTime() + effort.pass().toNanos(); end - System.nanoTime() > 0; ) {
      step.run();
      count++;
    }
    return count;
  }

  /** One pass more, which does not count: both sides compile and open what they need. */
  private void repeat(Operation operation, Callable<Long> pass) throws Exception {
    List<Double> micros = new ArrayList<>();
    List<Double> written = new ArrayList<>();
    long unused = pass.call();
    for (int i = 0; i < effort.passes(); i++) {
      long before = broker.onProcessor().toNanos();
      long bytes = broker.written();
      double count = pass.call();
      micros.add((broker.onProcessor().toNanos() - before) / 1e3 / count);
      written.add((broker.written() - bytes) / count);
    }
    findings.add(new Cost(operation, kind, micros, written));
  }

  private void used() throws Exception {
    int most = effort.locks(kind);
    List<Reading> readings = new ArrayList<>();
    List<Double> micros = new ArrayList<>();
    List<Double> written = new ArrayList<>();
    for (int size : Effort.sizes(most)) {
      // What was used a minute ago may have disappeared.
      each(0, created, this::use);
      long before = broker.onProcessor().toNanos();
      long bytes = broker.written();
      double more = size - created;
      each(
          created,
          size,
          i -> {
            kind.create(holders.get(i % CLIENTS), name(i));
            use(i);
          });
      created = size;
      if (10 * more >= most) {
        micros.add((broker.onProcessor().toNanos() - before) / 1e3 / more);
        written.add((broker.written() - bytes) / more);
      }
      readings.add(broker.read(size, Duration.ZERO));
    }
    findings.add(new Growth(Subject.USED, kind, readings));
    findings.add(new Cost(Operation.FIRST_USE, kind, micros, written));
  }

  private void use(int i) throws InterruptedException {
    lock(holders, name(i), i).acquire(PATIENCE).close();
  }

  private List<Lease> held() throws Exception {
    int most = effort.locks(kind);
    List<Reading> readings = new ArrayList<>();
    List<Lease> leases = new ArrayList<>();
    for (int size : Effort.sizes(most)) {
      leases.addAll(all(leases.size(), size, i -> lock(holders, name(i), i).acquire(PATIENCE)));
      // Those that are not held stay, however long it takes.
      each(size, created, this::use);
      readings.add(broker.read(size, effort.rest(size, most)));
    }
    findings.add(new Growth(Subject.HELD, kind, readings));
    return leases;
  }

  private void waitedFor() throws Exception {
    List<Reading> readings = new ArrayList<>();
    List<CompletableFuture<Lease>> calls = new ArrayList<>();
    for (int size : Effort.sizes(effort.locks(kind))) {
      for (int i = calls.size(); i < size; i++) {
        calls.add(lock(waiters, name(i), i).acquireAsync(UNTIL_CANCELLED));
      }
      awaitWaiting(size);
      readings.add(broker.read(size, Duration.ZERO));
    }
    calls.forEach(call -> call.cancel(true));
    findings.add(new Growth(Subject.WAITED_FOR, kind, readings));
  }

  private void awaitWaiting(int calls) throws InterruptedException {
    long end = System.nanoTime() + PATIENCE.toNanos();
    while (waiters.stream().mapToInt(each -> each.status().waiting()).sum() < calls) {
      if (end - System.nanoTime() < 0) {
        throw new IllegalStateException("Not all of %d calls wait".formatted(calls));
      }
      TimeUnit.MILLISECONDS.sleep(20);
    }
  }

  private AmqpLock lock(List<AmqpLocks> clients, String name, int i) {
    return kind.lock(clients.get(i % CLIENTS), name);
  }

  private static String name(int i) {
    return "many-" + i;
  }

  private void each(int from, int to, IndexedStep step) throws Exception {
    List<Boolean> unused =
        all(
            from,
            to,
            i -> {
              step.run(i);
              return true;
            });
  }

  private <T> List<T> all(int from, int to, IndexedCall<T> call) throws Exception {
    List<Callable<T>> calls = new ArrayList<>();
    for (int i = from; i < to; i++) {
      int index = i;
      calls.add(() -> call.run(index));
    }
    List<T> results = new ArrayList<>();
    for (Future<T> each : pool.invokeAll(calls)) {
      results.add(each.get());
    }
    return results;
  }

  @Override
  public void close() throws Exception {
    pool.shutdownNow();
    lab.close();
  }

  private interface Step {
    void run() throws Exception;
  }

  private interface IndexedStep {
    void run(int i) throws Exception;
  }

  private interface IndexedCall<T> {
    T run(int i) throws Exception;
  }
}
