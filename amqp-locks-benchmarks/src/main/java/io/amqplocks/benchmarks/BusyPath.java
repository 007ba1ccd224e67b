package io.amqplocks.benchmarks;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.test.Direction;
import io.amqplocks.test.TcpProxy;
import java.time.Duration;
import java.util.List;

/**
 * The answer "busy" of a semaphore whose slots are all held. On the loopback it shows what the
 * probes cost. Over a link that delays each way it shows how often the answer waits for the broker:
 * a second round trip would double it.
 *
 * @param slow whether over a slow link
 */
record BusyPath(boolean slow) implements CorePath {

  private static final int SLOTS = 100;
  private static final Duration ONE_WAY = Duration.ofMillis(25);

  @Override
  public String name() {
    return "busy answer, %d slots full%s".formatted(SLOTS, slow ? ", 50 ms away" : "");
  }

  /** One round trip is the goal, not two; in between lies what is not the link's. */
  @Override
  public Goal goal() {
    return slow ? Goal.atMostTimes(1.5) : Goal.NONE;
  }

  @Override
  public String floor() {
    return slow
        ? "one round trip of the same probes"
        : "one round trip of %d probes (ours sends %d)".formatted(SLOTS, 2 * (SLOTS + 1));
  }

  @Override
  public Sides open(Lab lab) throws Exception {
    AmqpLocks others = lab.locks();
    lab.semaphore(others, "full", SLOTS);
    for (int i = 0; i < SLOTS; i++) {
      var unused = others.slotSemaphore("full").tryAcquire().orElseThrow();
    }
    ConnectionFactory factory = slow ? slow(lab) : lab.factory();
    AmqpLock full = lab.closing(lab.builder(factory).build()).slotSemaphore("full");
    Raw raw = new Raw(SemaphorePath.confirming(lab, factory));
    List<String> probed = SemaphorePath.probed(lab, "full", SLOTS);
    Timed ours =
        Timed.of(
            () -> {
              if (full.tryAcquire().isPresent()) {
                throw new IllegalStateException("A slot of a full semaphore was had");
              }
            });
    Timed same = Timed.of(() -> raw.probe(probed));
    Timed slotsOnly = Timed.of(() -> raw.probe(probed.subList(0, SLOTS)));
    return slow ? new Sides(ours, same) : new Sides(ours, slotsOnly, same);
  }

  private static ConnectionFactory slow(Lab lab) {
    ConnectionFactory factory = lab.factory();
    TcpProxy proxy = lab.closing(new TcpProxy(factory.getHost(), factory.getPort()));
    proxy.delay(Direction.CLIENT_TO_BROKER, ONE_WAY);
    proxy.delay(Direction.BROKER_TO_CLIENT, ONE_WAY);
    factory.setHost(proxy.host());
    factory.setPort(proxy.port());
    return factory;
  }
}
