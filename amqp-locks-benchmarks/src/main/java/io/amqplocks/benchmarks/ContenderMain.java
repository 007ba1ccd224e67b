package io.amqplocks.benchmarks;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/** A process whose threads want a mutex, whenever it is told to. */
final class ContenderMain {

  private ContenderMain() {}

  /**
   * Answers each line "MILLIS" by "done ACQUIRES LONGEST_WAIT_NANOS".
   *
   * @param args the broker's URI, the prefix of the queues, the mutex, how many threads
   */
  public static void main(String[] args) throws Exception {
    BufferedReader input =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    try (AmqpLocks locks = AmqpLocks.builder(Lab.factory(args[0])).queuePrefix(args[1]).build()) {
      AmqpLock mutex = locks.mutex(args[2]);
      // Its connections and classes are not what is measured.
      locks
          .mutex("warm-up-" + ThreadLocalRandom.current().nextLong())
          .tryAcquire()
          .orElseThrow()
          .close();
      System.out.println("ready");
      for (String line = input.readLine(); line != null; line = input.readLine()) {
        Contention outcome =
            Contention.of(
                mutex, Integer.parseInt(args[3]), Duration.ofMillis(Long.parseLong(line)));
        System.out.println("done " + outcome.acquires() + " " + outcome.longestWait());
      }
    }
  }
}
