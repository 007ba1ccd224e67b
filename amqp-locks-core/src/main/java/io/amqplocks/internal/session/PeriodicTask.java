package io.amqplocks.internal.session;

import io.amqplocks.internal.broker.FailureLog;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A task that a scheduler repeats, and that is repeated after a failure too. A scheduler drops a
 * task that throws, and tells nobody. One failure to start a thread would end all verifications of
 * a session.
 *
 * @param name what the task does, for the log
 * @param task the task
 */
public record PeriodicTask(String name, Runnable task) implements Runnable {

  private static final Logger log = LoggerFactory.getLogger(PeriodicTask.class);

  @Override
  public void run() {
    try {
      task.run();
    } catch (RuntimeException | Error e) {
      FailureLog.write(() -> log.error("The {} failed this time, and goes on", name, e));
    }
  }
}
