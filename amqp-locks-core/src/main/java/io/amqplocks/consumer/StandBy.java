package io.amqplocks.consumer;

import java.io.IOException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The connection of a consumer that stands by, if it has one ({@link
 * SoleConsumerBuilder#standByConnected()}). If it cannot be opened, or breaks, it is opened again
 * after a pause. A consumer that becomes active without one opens it then.
 *
 * <p>Concurrency: the connection is put and taken under the guard, so one term at most gets it, or
 * the close of the consumer. It is opened and closed outside the guard. One thread at most opens;
 * it ends when there is a connection, or none is wanted any more.
 */
final class StandBy {

  private static final Logger log = LoggerFactory.getLogger(StandBy.class);
  private static final long FIRST_PAUSE = TimeUnit.SECONDS.toNanos(1);
  private static final long LONGEST_PAUSE = TimeUnit.SECONDS.toNanos(30);

  private final SoleConsumerBuilder settings;
  private final ReentrantLock guard = new ReentrantLock();
  private final Condition notWanted = guard.newCondition();
  private @Nullable ReadyConnection ready;
  private boolean wanted;
  private boolean opening;
  private boolean closed;

  StandBy(SoleConsumerBuilder settings) {
    this.settings = settings;
  }

  /** Opens a connection, if there is to be one and there is none. Does not wait for it. */
  void prepare() {
    if (settings.connectsAhead) {
      prepare(true, 0);
    }
  }

  /**
   * As {@link #prepare}, after a term: while the next consumer takes over, broker and processors
   * have enough to do. If this consumer becomes active before, no connection is opened ahead.
   */
  void prepareLater() {
    if (settings.connectsAhead) {
      prepare(true, FIRST_PAUSE);
    }
  }

  /** A connection that breaks at once, again and again, must not keep the broker busy. */
  private void prepareAgain() {
    prepare(false, FIRST_PAUSE);
  }

  private void prepare(boolean wish, long pause) {
    if (begins(wish)) {
      Thread thread = new Thread(() -> open(pause), "amqp-locks consumer standing by");
      thread.setDaemon(true);
      try {
        thread.start();
      } catch (Error e) {
        // Whoever becomes active opens a connection then.
        log.debug("There is no thread for a connection ahead for queue '{}'", settings.queue, e);
        opensNoMore();
      }
    }
  }

  private void opensNoMore() {
    guard.lock();
    try {
      opening = false;
    } finally {
      guard.unlock();
    }
  }

  private boolean begins(boolean wish) {
    guard.lock();
    try {
      wanted = !closed && (wanted || wish);
      boolean begins = wanted && !opening && (ready == null || !ready.isOpen());
      opening |= begins;
      return begins;
    } finally {
      guard.unlock();
    }
  }

  private void open(long firstPause) {
    long pause = firstPause;
    while (isWantedAfter(pause)) {
      try {
        ReadyConnection opened = ReadyConnection.open(settings);
        ReadyConnection unwanted = put(opened);
        if (unwanted != null) {
          unwanted.abort();
        }
        // Called at once if it is broken already.
        opened.whenBroken(this::prepareAgain);
        return;
      } catch (IOException | TimeoutException | RuntimeException | Error e) {
        log.debug("There is no connection ahead for queue '{}'", settings.queue, e);
        pause = Math.min(Math.max(FIRST_PAUSE, 2 * pause), LONGEST_PAUSE);
      }
    }
  }

  /** Waits for that long, unless no connection is wanted any more. */
  private boolean isWantedAfter(long pause) {
    boolean goesOn;
    guard.lock();
    try {
      long left = pause;
      while (wanted && left > 0) {
        left = notWanted.awaitNanos(left);
      }
    } catch (InterruptedException e) {
      // Nobody interrupts this thread.
      wanted = false;
    } finally {
      goesOn = wanted;
      opening = goesOn;
      guard.unlock();
    }
    return goesOn;
  }

  /** Returns the one that is to be closed. */
  private @Nullable ReadyConnection put(ReadyConnection opened) {
    guard.lock();
    try {
      opening = false;
      ReadyConnection unwanted = wanted ? ready : opened;
      ready = wanted ? opened : null;
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
      wanted = false;
      notWanted.signalAll();
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
