package io.amqplocks.test;

import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.opentest4j.TestAbortedException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The brokers of the JVM: of each line one that test classes share, and as many more as there are
 * classes at the same time that want one to themselves. Such a broker goes on to the next class
 * that wants one. JUnit closes all of them at its end.
 *
 * <p>Concurrency: test classes run in parallel. A line's lock is held while its shared broker
 * starts, so that it starts once; a broker of one's own starts without a lock.
 */
final class SharedBrokers implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(SharedBrokers.class);

  private final Map<String, Line> lines = new ConcurrentHashMap<>();
  private final BrokerOffers offers;

  static SharedBrokers of(ExtensionContext context) {
    return context
        .getRoot()
        .getStore(Namespace.create(SharedBrokers.class))
        .computeIfAbsent(
            SharedBrokers.class,
            key -> new SharedBrokers(BrokerOffers.find(System.getenv())),
            SharedBrokers.class);
  }

  SharedBrokers(BrokerOffers offers) {
    this.offers = offers;
  }

  BrokerOffers offers() {
    return offers;
  }

  /** Skips what is about to run if there is no broker of this line, or fails it if one must be. */
  void require(String line) {
    if (offers.offer(line).isPresent()) {
      return;
    }
    if (offers.required()) {
      throw new IllegalStateException(offers.missing(line));
    }
    throw new TestAbortedException(offers.missing(line));
  }

  /**
   * A broker of this line, started if none is to spare. To be closed when the class is done with
   * it, which undoes the faults that it left.
   *
   * @param own whether nobody else may use it until then
   */
  LentBroker lend(String line, boolean own) {
    Line of = lines.computeIfAbsent(line, Line::new);
    return own ? of.lendOwn() : of.lendShared();
  }

  @Override
  public void close() {
    lines.values().forEach(Line::close);
  }

  /** The brokers of one line. */
  private final class Line {

    private final String name;
    private final ReentrantLock starting = new ReentrantLock();
    private @Nullable OwnedBroker shared;
    private @Nullable RuntimeException failure;
    private final Queue<OwnedBroker> idle = new ConcurrentLinkedQueue<>();
    private final Queue<OwnedBroker> all = new ConcurrentLinkedQueue<>();

    Line(String name) {
      this.name = name;
    }

    LentBroker lendShared() {
      OwnedBroker broker = shared();
      Broker view = broker instanceof NodeBroker node ? node.share() : broker;
      return new LentBroker(view, () -> heal(view));
    }

    /** Started at its first use. One that failed is not tried again. */
    private OwnedBroker shared() {
      starting.lock();
      try {
        if (failure != null) {
          throw failure;
        }
        if (shared == null) {
          shared = start();
        }
        return shared;
      } catch (RuntimeException failed) {
        failure = failed;
        throw failed;
      } finally {
        starting.unlock();
      }
    }

    LentBroker lendOwn() {
      OwnedBroker spare = idle.poll();
      OwnedBroker broker = spare == null ? start() : spare;
      // Given back twice, it would be lent to two.
      AtomicBoolean lent = new AtomicBoolean(true);
      return new LentBroker(
          broker,
          () -> {
            if (lent.getAndSet(false)) {
              takeBack(broker);
            }
          });
    }

    private void takeBack(OwnedBroker broker) {
      try {
        heal(broker);
        idle.add(broker);
      } catch (RuntimeException failed) {
        LOG.warn("A broker of line {} is thrown away: it does not heal", name, failed);
        all.remove(broker);
        broker.close();
      }
    }

    private void heal(Broker broker) {
      if (!(broker instanceof ExternalBroker || broker instanceof EmbeddedBroker)) {
        broker.faults().heal();
      }
    }

    private OwnedBroker start() {
      OwnedBroker broker = offers.start(name);
      all.add(broker);
      if (!(broker instanceof EmbeddedBroker)) {
        BrokerRecord.add(broker.version());
      }
      return broker;
    }

    void close() {
      all.forEach(OwnedBroker::close);
    }
  }
}
