package io.amqplocks.test;

import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.locks.ReentrantLock;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.opentest4j.TestAbortedException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The brokers that all test classes of the JVM share; JUnit closes them at its end. */
final class SharedBrokers implements AutoCloseable {

  private static final Logger LOG = LoggerFactory.getLogger(SharedBrokers.class);

  private final ReentrantLock lock = new ReentrantLock();
  private final Map<String, OwnedBroker> started = new LinkedHashMap<>();
  private final Map<String, RuntimeException> failed = new LinkedHashMap<>();
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

  private SharedBrokers(BrokerOffers offers) {
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

  /** The broker of this line, started if it is the first use. One that failed is not tried again. */
  Broker get(String line) {
    lock.lock();
    try {
      RuntimeException failure = failed.get(line);
      if (failure != null) {
        throw failure;
      }
      return started.computeIfAbsent(line, this::start);
    } catch (RuntimeException failure) {
      failed.put(line, failure);
      throw failure;
    } finally {
      lock.unlock();
    }
  }

  private OwnedBroker start(String line) {
    OwnedBroker broker = offers.start(line);
    BrokerRecord.add(broker.version());
    return broker;
  }

  /** Undoes the faults that a test class left. A broker beyond healing is replaced at next use. */
  void heal(String line) {
    lock.lock();
    try {
      if (started.get(line) instanceof NodeBroker hurt) {
        hurt.faults().heal();
      }
    } catch (RuntimeException failure) {
      LOG.warn("Replacing the broker of line {}: it does not heal", line, failure);
      Objects.requireNonNull(started.remove(line)).close();
    } finally {
      lock.unlock();
    }
  }

  @Override
  public void close() {
    started.values().forEach(OwnedBroker::close);
  }
}
