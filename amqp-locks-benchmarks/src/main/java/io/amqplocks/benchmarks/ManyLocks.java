package io.amqplocks.benchmarks;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.Consumer;

/**
 * 10,000 exclusive-queue mutexes held in one session: what they do to the next acquire, to
 * verification and to the heap. Must be the last of all: the broker is busy for a while with what
 * is left behind.
 */
record ManyLocks() implements RowSource {

  private static final int LOCKS = 10_000;
  private static final int THREADS = 16;

  /** The floor of verification asks each of its queues several times: fewer will do. */
  private static final int FLOOR_QUEUES = 2_000;

  @Override
  public String name() {
    return "10,000 locks: growth, verification, heap";
  }

  @Override
  public void measure(Lab lab, Consumer<Row> rows) throws Exception {
    VerificationPasses passes = new VerificationPasses(LOCKS);
    ConnectionFactory factory = lab.factory();
    factory.setTrafficListener(passes);
    // Far longer than a pass takes, for passes are told apart by the pauses between them.
    AmqpLocks locks = lab.closing(lab.builder(factory).verifyEvery(Duration.ofSeconds(10)).build());
    Sides alone = alone(lab, locks);
    Duration time = lab.time().dividedBy(2);
    List<Samples> before = Turns.take(time, List.of(alone.ours(), alone.floor()));
    long heap = Heap.used();
    List<Lease> leases = hold(locks);
    double heapPerLease = (double) (Heap.used() - heap) / leases.size();
    List<Timed> both = List.of(alone.ours(), alone.floor());
    List<Samples> after = Turns.take(time, both);
    Row verification = verification(lab, passes);
    // Once more, for the broker was still busy with all of it.
    List<Samples> later = Turns.take(time, both);
    after.get(0).addAll(later.get(0));
    after.get(1).addAll(later.get(1));
    rows.accept(
        Row.time(
            "growth, 1 to 10,000 locks held",
            after.get(0),
            before.get(0),
            Goal.atMostTimes(1.5),
            "the exclusive-queue mutex alone; raw pairs meanwhile %s to %s"
                .formatted(
                    Unit.MICROS.format(before.get(1).median() / 1e3),
                    Unit.MICROS.format(after.get(1).median() / 1e3))));
    rows.accept(verification);
    rows.accept(
        new Row(
            "heap per lease",
            Unit.BYTES,
            heapPerLease,
            Double.NaN,
            Goal.atMost(4096, Unit.BYTES),
            "of an exclusive-queue mutex; the client library's part of it included"));
  }

  private static Sides alone(Lab lab, AmqpLocks locks) throws Exception {
    AmqpLock mutex = locks.exclusiveQueueMutex("alone");
    Raw raw = new Raw(lab.channel());
    String queue = lab.prefix() + "floor.alone";
    return new Sides(
        Timed.of(() -> mutex.tryAcquire().orElseThrow().close()),
        Timed.of(
            () -> {
              raw.declareExclusive(queue);
              raw.delete(queue);
            }));
  }

  private static List<Lease> hold(AmqpLocks locks) throws Exception {
    ExecutorService pool = Executors.newFixedThreadPool(THREADS);
    try {
      List<Callable<Lease>> tasks = new ArrayList<>();
      for (int i = 0; i < LOCKS; i++) {
        String name = "many-" + i;
        tasks.add(() -> locks.exclusiveQueueMutex(name).tryAcquire().orElseThrow());
      }
      List<Lease> leases = new ArrayList<>();
      for (Future<Lease> each : pool.invokeAll(tasks)) {
        leases.add(each.get());
      }
      return leases;
    } finally {
      pool.shutdownNow();
    }
  }

  /** The floor's turn is when a pass has just ended. */
  private static Row verification(Lab lab, VerificationPasses passes) throws Exception {
    OwnQueues own = new OwnQueues(lab, FLOOR_QUEUES);
    Samples ours = new Samples();
    Samples floor = new Samples();
    for (int i = 0; i < (lab.quick() ? 2 : 5); i++) {
      ours.add(passes.next());
      floor.add(own.verify(LOCKS));
    }
    return Row.time(
        "verification of 10,000 leases, one pass",
        ours,
        floor,
        Goal.atMost(2_000_000, Unit.MICROS),
        "raw passive declares, 64 at a time");
  }
}
