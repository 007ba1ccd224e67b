package io.amqplocks.shedlock;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.LoggerFactory;

/** The warnings that name one lock, of all providers in this JVM. */
final class Warnings extends AppenderBase<ILoggingEvent> implements AutoCloseable {

  private final Logger logger = (Logger) LoggerFactory.getLogger(AmqpLockProvider.class);
  private final List<String> messages = new CopyOnWriteArrayList<>();
  private final String lockName;

  private Warnings(String name) {
    this.lockName = name;
  }

  static Warnings of(String name) {
    Warnings warnings = new Warnings(name);
    warnings.start();
    warnings.logger.addAppender(warnings);
    return warnings;
  }

  List<String> all() {
    return messages;
  }

  @Override
  protected void append(ILoggingEvent event) {
    String message = event.getFormattedMessage();
    if (event.getLevel() == Level.WARN && message.contains(lockName)) {
      messages.add(message);
    }
  }

  @Override
  public void close() {
    logger.detachAppender(this);
  }
}
