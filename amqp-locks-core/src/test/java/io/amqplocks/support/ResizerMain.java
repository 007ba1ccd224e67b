package io.amqplocks.support;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.DeleteOrder;
import io.amqplocks.admin.SlotSemaphoreAdmin;
import io.amqplocks.lock.LockException;
import java.util.Random;

/**
 * An administrator that changes the size of a semaphore again and again until somebody kills it.
 * Arguments: broker URI, prefix, semaphore.
 */
public final class ResizerMain {

  private ResizerMain() {}

  /** Resizes. */
  public static void main(String[] args) throws Exception {
    ConnectionFactory factory = new ConnectionFactory();
    factory.setUri(args[0]);
    Random random = new Random();
    try (AmqpLocks locks = AmqpLocks.builder(factory).queuePrefix(args[1]).build()) {
      SlotSemaphoreAdmin admin = locks.admin().slotSemaphore(args[2]);
      while (true) {
        DeleteOrder order = random.nextBoolean() ? DeleteOrder.ASCENDING : DeleteOrder.DESCENDING;
        try {
          System.out.println("RESIZED " + admin.resize(random.nextInt(21), order));
        } catch (LockException e) {
          System.out.println("FAILED " + e);
        }
      }
    }
  }
}
