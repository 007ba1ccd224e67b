package io.amqplocks.benchmarks;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;
import java.util.ArrayList;
import java.util.List;

/**
 * A free slot of a persistent semaphore.
 *
 * @param slots how many it has
 * @param held how many of them others hold
 * @param goal for the ratio to one exclusive declare + delete
 */
record SemaphorePath(int slots, int held, Goal goal) implements CorePath {

  @Override
  public String name() {
    return "semaphore, %d slots, %d held".formatted(slots, held);
  }

  @Override
  public String floor() {
    return "exclusive declare + delete";
  }

  @Override
  public Sides open(Lab lab) throws Exception {
    AmqpLocks others = lab.locks();
    lab.semaphore(others, "s", slots);
    AmqpLock taken = others.slotSemaphore("s");
    for (int i = 0; i < held; i++) {
      var unused = taken.tryAcquire().orElseThrow();
    }
    AmqpLock semaphore = lab.locks().slotSemaphore("s");
    Raw raw = new Raw(lab.channel());
    String holder = lab.prefix() + "floor.holder";
    return new Sides(
        Timed.of(() -> semaphore.tryAcquire().orElseThrow().close()),
        Timed.of(
            () -> {
              raw.declareExclusive(holder);
              raw.delete(holder);
            }),
        allSteps(lab, "s", slots));
  }

  /** What an acquire and a release ask of the broker, one after the other. */
  static Timed allSteps(Lab lab, String name, int slots) throws Exception {
    Raw raw = new Raw(lab.channel());
    Raw prober = new Raw(confirming(lab, lab.factory()));
    String slot = slot(lab, name, 1);
    String holder = lab.prefix() + "floor.holder-of-" + name;
    List<String> probed = probed(lab, name, slots);
    return Timed.of(
        () -> {
          prober.probe(probed);
          raw.declareExclusive(holder);
          raw.watch(holder);
          raw.consumers(slot);
          raw.delete(holder);
        });
  }

  static Channel confirming(Lab lab, ConnectionFactory factory) throws Exception {
    Channel channel = lab.closing(factory.newConnection("bench floor")).createChannel();
    channel.confirmSelect();
    // What comes back is an answer, and looked at by those that need it.
    channel.addReturnListener(returned -> {});
    return channel;
  }

  static String slot(Lab lab, String name, int slot) {
    return lab.prefix() + "semaphore." + name + ".slot." + slot;
  }

  /** A and B of each slot and of the one behind the last, by which a client sees the end. */
  static List<String> probed(Lab lab, String name, int slots) {
    List<String> queues = new ArrayList<>();
    for (int slot = 1; slot <= slots + 1; slot++) {
      queues.add(slot(lab, name, slot));
    }
    for (int slot = 1; slot <= slots + 1; slot++) {
      queues.add(lab.prefix() + "semaphore." + name + ".holder." + slot);
    }
    return queues;
  }
}
