package io.amqplocks.test;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;

/**
 * The brokers that one test class has borrowed, at most one of each line. JUnit closes this when
 * the class and its {@code @AfterAll} are done. Tests of the class may ask at the same time.
 */
final class ClassBrokers implements AutoCloseable {

  private final SharedBrokers brokers;
  private final boolean own;
  private final Map<String, LentBroker> lent = new ConcurrentHashMap<>();

  /** Those of the class of that context. */
  static ClassBrokers of(ExtensionContext context, SharedBrokers brokers, boolean own) {
    return context
        .getStore(Namespace.create(ClassBrokers.class, context.getRequiredTestClass()))
        .computeIfAbsent(
            ClassBrokers.class, key -> new ClassBrokers(brokers, own), ClassBrokers.class);
  }

  private ClassBrokers(SharedBrokers brokers, boolean own) {
    this.brokers = brokers;
    this.own = own;
  }

  Broker get(String line) {
    return lent.computeIfAbsent(line, key -> brokers.lend(key, own)).broker();
  }

  /** The run of the class on that line is over. */
  void giveBack(String line) {
    LentBroker done = lent.remove(line);
    if (done != null) {
      done.close();
    }
  }

  @Override
  public void close() {
    lent.values().forEach(LentBroker::close);
  }
}
