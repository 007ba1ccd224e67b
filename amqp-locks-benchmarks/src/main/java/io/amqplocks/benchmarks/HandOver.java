package io.amqplocks.benchmarks;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.DefaultConsumer;
import com.rabbitmq.client.Envelope;
import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * From the release in one session to the lease in another that waits. Sessions of one process,
 * because then one clock tells; the broker cannot tell them from two processes.
 *
 * <p>The floor is from the release to the delivery of a message that says so, to a consumer that
 * waits; all of the steps are that and then taking the lock. Each release finds a waiter that has
 * waited for some random time: what finds out by looking now and then must not profit from being
 * released just then.
 */
record HandOver() implements CorePath {

  private static final Duration PATIENCE = Duration.ofSeconds(30);
  private static final BasicProperties WAKE_UP =
      new BasicProperties.Builder().deliveryMode(1).expiration("0").build();

  @Override
  public String name() {
    return "hand-over, exclusive-queue mutex";
  }

  @Override
  public Goal goal() {
    return Goal.atMostTimes(1.5);
  }

  @Override
  public String floor() {
    return "delete to delivery";
  }

  @Override
  public Sides open(Lab lab) throws Exception {
    AmqpLocks holder = lab.locks();
    AmqpLocks waiter = lab.locks();
    AmqpLock held = holder.exclusiveQueueMutex("over");
    AmqpLock wanted = waiter.exclusiveQueueMutex("over");
    Bare bare = new Bare(lab);
    return new Sides(
        () -> handOver(held, wanted, waiter), () -> bare.release(false), () -> bare.release(true));
  }

  /** From the release by one to the lease of the other. */
  static long handOver(AmqpLock held, AmqpLock wanted, AmqpLocks waiter) throws Exception {
    Lease first = held.acquire(PATIENCE);
    CompletableFuture<Long> taken = new CompletableFuture<>();
    Thread thread = new Thread(() -> waitFor(wanted, taken), "waiter");
    thread.start();
    while (waiter.status().waiting() == 0) {
      Thread.onSpinWait();
    }
    letWait();
    long start = System.nanoTime();
    first.close();
    long nanos = taken.get(60, TimeUnit.SECONDS) - start;
    thread.join();
    return nanos;
  }

  /**
   * Both sides pause before the release: a broker and threads that have nothing to do fall asleep,
   * and to wake them is part of the time.
   */
  static void letWait() {
    LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(10_000_000, 40_000_000));
  }

  private static void waitFor(AmqpLock wanted, CompletableFuture<Long> taken) {
    try (Lease lease = wanted.acquire(PATIENCE)) {
      taken.complete(System.nanoTime());
    } catch (InterruptedException | RuntimeException e) {
      taken.completeExceptionally(e);
    }
  }

  /** Hands over by the bare client. */
  private static final class Bare {
    private final Raw holder;
    private final Raw waiter;
    private final Channel publisher;
    private final String lock;
    private final String wakeQueue;
    private final BlockingQueue<Long> wakeUps = new ArrayBlockingQueue<>(16);

    Bare(Lab lab) throws Exception {
      holder = new Raw(lab.channel());
      waiter = new Raw(lab.channel());
      publisher = lab.channel();
      lock = lab.prefix() + "floor.over";
      wakeQueue = lab.leaving(lab.prefix() + "floor.wake");
      Channel sleeper = waiter.channel().getConnection().createChannel();
      sleeper.queueDeclare(wakeQueue, true, false, false, Map.of("x-queue-type", "classic"));
      sleeper.basicConsume(
          wakeQueue,
          true,
          new DefaultConsumer(sleeper) {
            @Override
            public void handleDelivery(
                String tag, Envelope envelope, BasicProperties properties, byte[] body) {
              wakeUps.add(System.nanoTime());
            }
          });
    }

    long release(boolean andTake) throws Exception {
      take(holder);
      letWait();
      long start = System.nanoTime();
      holder.delete(lock);
      publisher.basicPublish("", wakeQueue, WAKE_UP, new byte[0]);
      Long delivered = wakeUps.poll(10, TimeUnit.SECONDS);
      if (delivered == null) {
        throw new IllegalStateException("No wake-up came");
      }
      if (!andTake) {
        return delivered - start;
      }
      take(waiter);
      long nanos = System.nanoTime() - start;
      waiter.delete(lock);
      return nanos;
    }

    private void take(Raw raw) throws Exception {
      raw.declareExclusive(lock);
      raw.watch(lock);
    }
  }
}
