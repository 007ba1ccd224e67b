package io.amqplocks.support;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;

/**
 * A process whose threads add to a number in a file, which only a mutex guards: read, add one,
 * write. Arguments: broker URI, prefix, mutex, file, threads, additions of each thread.
 */
public final class CounterMain {

  private CounterMain() {}

  /** Counts. */
  public static void main(String[] args) throws Exception {
    ConnectionFactory factory = new ConnectionFactory();
    factory.setUri(args[0]);
    Path file = Path.of(args[3]);
    int additions = Integer.parseInt(args[5]);
    ExecutorService threads = Executors.newFixedThreadPool(Integer.parseInt(args[4]));
    try (AmqpLocks locks = AmqpLocks.builder(factory).queuePrefix(args[1]).build()) {
      ColdStart.connect(locks);
      AmqpLock mutex = locks.mutex(args[2]);
      List<Callable<Integer>> adders = new ArrayList<>();
      for (int i = 0; i < Integer.parseInt(args[4]); i++) {
        adders.add(() -> add(mutex, file, additions));
      }
      int lost = 0;
      for (Future<Integer> each : threads.invokeAll(adders)) {
        lost += each.get();
      }
      System.out.println("DONE, leases lost: " + lost);
    } finally {
      threads.shutdown();
    }
  }

  private static int add(AmqpLock mutex, Path file, int additions) throws Exception {
    int lost = 0;
    for (int i = 0; i < additions; i++) {
      try (Lease lease = mutex.acquire(Duration.ofMinutes(2))) {
        long number = Long.parseLong(Files.readString(file));
        Files.writeString(file, Long.toString(number + 1));
        lost += lease.lossReason().isPresent() ? 1 : 0;
      }
    }
    return lost;
  }
}
