package io.amqplocks.support;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;

/**
 * Clients that all want the same token semaphore, again and again, each by connections of its own.
 */
public final class Crowd implements AutoCloseable {

  private final List<AmqpLocks> clients;
  private final ExecutorService threads;

  /** So many. */
  public Crowd(ConnectionFactory factory, String prefix, int number) {
    clients =
        IntStream.range(0, number)
            .mapToObj(i -> AmqpLocks.builder(factory).queuePrefix(prefix).build())
            .toList();
    threads = Executors.newFixedThreadPool(number);
    clients.forEach(ColdStart::connect);
  }

  /** Each acquires so often; what is seen of it is on the board. */
  public void acquire(String name, boolean fenced, int times, SlotBoard board) throws Exception {
    List<Callable<Void>> all = new ArrayList<>();
    for (AmqpLocks client : clients) {
      AmqpLock plain = client.tokenSemaphore(name);
      AmqpLock lock = fenced ? plain.fenced() : plain;
      all.add(
          () -> {
            for (int i = 0; i < times; i++) {
              try (Lease lease = lock.acquire(Duration.ofMinutes(2))) {
                board.enter(lease, fenced);
                // Long enough that all slots are held at times.
                LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(500_000));
                board.leave(lease);
              }
            }
            return null;
          });
    }
    for (Future<Void> each : threads.invokeAll(all)) {
      each.get();
    }
  }

  @Override
  public void close() {
    threads.shutdownNow();
    clients.forEach(AmqpLocks::close);
  }

  /**
   * A crowd in a process of its own. Arguments: broker URI, prefix, number of clients, folder of
   * boards. Orders: name, slots, fenced, times.
   */
  public static void main(String[] args) throws Exception {
    ConnectionFactory factory = new ConnectionFactory();
    factory.setUri(args[0]);
    BufferedReader orders =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    try (Crowd crowd = new Crowd(factory, args[1], Integer.parseInt(args[2]))) {
      System.out.println("READY");
      for (String order = orders.readLine(); order != null; order = orders.readLine()) {
        String[] words = order.split(" ", -1);
        SlotBoard board =
            new SlotBoard(Path.of(args[3]).resolve(words[0]), Integer.parseInt(words[1]));
        crowd.acquire(words[0], Boolean.parseBoolean(words[2]), Integer.parseInt(words[3]), board);
        System.out.println("DONE " + words[0]);
      }
    }
  }
}
