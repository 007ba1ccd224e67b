package io.amqplocks.consumer;

import java.io.IOException;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connection of a consumer that stands by, if it has one ({@link
 * SoleConsumerBuilder#standByConnected()}). It is only an attempt: whoever becomes active without one
 * opens it then.
 *
 * <p>Concurrency: the connection is put and taken under the guard, so one term at most gets it, or the
 * close of the consumer. It is opened and closed outside the guard.
 */
final class StandBy {

  private static final Logger log = LoggerFactory.getLogger(StandBy.class);

  private final SoleConsumerBuilder settings;
  private final ReentrantLock guard = new ReentrantLock();
  private @Nullable ReadyConnection ready;
  private boolean opening;
  private boolean closed;

  StandBy(SoleConsumerBuilder settings) {
    this.settings = settings;
  }

  /** Opens a connection, if there is to be one and there is none. Does not wait for it. */
  void prepare() {
    if (settings.connectsAhead && begins()) {
      Thread thread = new Thread(this::open, "amqp-locks consumer standing by");
      thread.setDaemon(true);
      thread.start();
    }
  }

  private boolean begins() {
    guard.lock();
    try {
      boolean begins = !opening && !closed && (ready == null || !ready.isOpen());
      opening |= begins;
      return begins;
    } finally {
      guard.unlock();
    }
  }

  private void open() {
    ReadyConnection opened = null;
    try {
      opened = ReadyConnection.open(settings);
    } catch (IOException | TimeoutException | RuntimeException e) {
      log.debug("There is no connection ahead for queue '{}'", settings.queue, e);
    }
    ReadyConnection unwanted = put(opened);
    if (unwanted != null) {
      unwanted.abort();
    }
  }

  /** Returns the one that is to be closed. */
  private @Nullable ReadyConnection put(@Nullable ReadyConnection opened) {
    guard.lock();
    try {
      opening = false;
      ReadyConnection unwanted = closed ? opened : ready;
      ready = closed ? null : opened;
      return unwanted;
    } finally {
      guard.unlock();
    }
  }

  /** The one that is ready, or a new one. */
  ReadyConnection take() throws IOException, TimeoutException {
    ReadyConnection taken = takeReady(false);
    if (taken != null && taken.isOpen()) {
      return taken;
    }
    return ReadyConnection.open(settings);
  }

  private @Nullable ReadyConnection takeReady(boolean closing) {
    guard.lock();
    try {
      closed |= closing;
      ReadyConnection taken = ready;
      ready = null;
      return taken;
    } finally {
      guard.unlock();
    }
  }

  void close() {
    ReadyConnection left = takeReady(true);
    if (left != null) {
      left.abort();
    }
  }
}
