package io.amqplocks.support;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.AppenderBase;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.slf4j.LoggerFactory;

/** Reads the warnings of a package until it is closed, also those of tests that run meanwhile. */
public final class LogWatch extends AppenderBase<ILoggingEvent> implements AutoCloseable {

  private final List<String> warnings = new CopyOnWriteArrayList<>();
  private final Logger logger;

  private LogWatch(String name) {
    logger = (Logger) LoggerFactory.getLogger(name);
  }

  /** Begins to read. */
  public static LogWatch of(String packageName) {
    LogWatch watch = new LogWatch(packageName);
    watch.start();
    watch.logger.addAppender(watch);
    return watch;
  }

  @Override
  protected void append(ILoggingEvent event) {
    if (event.getLevel().isGreaterOrEqual(Level.WARN)) {
      warnings.add(event.getFormattedMessage());
    }
  }

  /** Their texts, the oldest first. */
  public List<String> warnings() {
    return warnings;
  }

  @Override
  public void close() {
    logger.detachAppender(this);
    stop();
  }
}
