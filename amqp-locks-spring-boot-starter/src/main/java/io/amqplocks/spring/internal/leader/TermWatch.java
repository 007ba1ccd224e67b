package io.amqplocks.spring.internal.leader;

import io.amqplocks.leader.Leadership;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Waits on a thread of its own until a term is over, and then ends what runs for it. The election
 * tells its listeners one after the other, so whoever waits to be told waits for all before it.
 *
 * <p>Concurrency: a term that is over stays so, and the thread asks the term itself. So it ends
 * what it has to end, once, at most one look after the term's end, whatever the election's thread
 * does. Nobody interrupts it. A look that fails is repeated: as long as the term may go on, there
 * is this thread. The end is called by it alone, and whoever has waited for the thread has waited
 * for that.
 */
final class TermWatch {

  private static final Logger log = LoggerFactory.getLogger(TermWatch.class);

  /** As often as the election looks whether its lease is in doubt. */
  private static final long LOOK_MILLIS = 100;

  private final Leadership term;
  private final Runnable end;
  private final CountDownLatch woken = new CountDownLatch(1);
  private final Thread thread;

  private TermWatch(Leadership term, String name, Runnable end) {
    this.term = term;
    this.end = end;
    thread = new Thread(this::run, name);
    thread.setDaemon(true);
  }

  /**
   * Begins to watch that term.
   *
   * @param name the thread's
   * @throws OutOfMemoryError if the system lets no thread start; nothing is watched then
   */
  static TermWatch of(Leadership term, String name, Runnable end) {
    TermWatch watch = new TermWatch(term, name, end);
    watch.thread.start();
    return watch;
  }

  boolean isOf(Leadership which) {
    return term.equals(which);
  }

  /** Nobody needs to wait for the next look: the term is over, or is to be watched no more. */
  void wake() {
    woken.countDown();
  }

  /** Returns when what ran for the term has ended. To be called after it was woken. */
  void awaitEnd() throws InterruptedException {
    thread.join();
  }

  private void run() {
    boolean over = false;
    while (!over) {
      over = isOver();
    }
    end.run();
  }

  private boolean isOver() {
    try {
      return !term.isCurrent() || woken.await(LOOK_MILLIS, TimeUnit.MILLISECONDS);
    } catch (InterruptedException | RuntimeException | Error e) {
      log.debug("The {} is looked at again", term, e);
      return false;
    }
  }
}
