package io.amqplocks.spring.internal.guard.call;

import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Interrupts the thread that runs a method when a lease is lost under it, and at no other time.
 *
 * <p>Concurrency: the notice of a loss comes on another thread, at any time. It interrupts under
 * the lock, and only while the method runs; the end of the method is set under the same lock by the
 * thread itself. So each interrupt comes before the end or not at all: none can hit what the thread
 * does later. At the end the thread clears the flag if it was set here and the method has not. It
 * leaves one alone that was set before by others; one that others set after this one cannot be told
 * apart and goes with it. Nothing blocks under the lock.
 *
 * <p>While a guarded method runs within another one, an interrupt of the outer one ends the inner
 * one, or is cleared at its end. So the outer one is interrupted again when the inner one has
 * ended. Each has its own lock, and no thread has two.
 */
final class Interruption {

  private static final ThreadLocal<@Nullable Interruption> INNERMOST = new ThreadLocal<>();

  private final Thread thread = Thread.currentThread();
  private final @Nullable Interruption outer = INNERMOST.get();
  private final ReentrantLock lock = new ReentrantLock();
  private boolean running = true;
  private boolean interrupted;

  /** Whether a method within this one runs. */
  private boolean hasInner;

  /** Whether an interrupt of this method came while one within it ran. */
  private boolean again;

  private Interruption() {}

  /** Of a method that begins now, on this thread. Its {@link #end} must follow. */
  static Interruption begin() {
    Interruption begun = new Interruption();
    Interruption outer = begun.outer;
    if (outer != null) {
      outer.innerBegins();
    }
    INNERMOST.set(begun);
    return begun;
  }

  /** Interrupts the thread that made this object, if its method still runs. */
  void interrupt() {
    lock.lock();
    try {
      if (running) {
        again |= hasInner;
        interruptNow();
      }
    } finally {
      lock.unlock();
    }
  }

  private void interruptNow() {
    if (!thread.isInterrupted()) {
      interrupted = true;
      thread.interrupt();
    }
  }

  private void innerBegins() {
    lock.lock();
    try {
      hasInner = true;
      // The inner method may take the interrupt that is there.
      again |= interrupted && thread.isInterrupted();
    } finally {
      lock.unlock();
    }
  }

  private void innerEnds() {
    lock.lock();
    try {
      hasInner = false;
      if (again) {
        again = false;
        interruptNow();
      }
    } finally {
      lock.unlock();
    }
  }

  /** The method has ended; said by its thread. */
  void end() {
    lock.lock();
    try {
      running = false;
      if (interrupted) {
        Thread.interrupted();
      }
    } finally {
      lock.unlock();
    }
    if (outer == null) {
      INNERMOST.remove();
    } else {
      INNERMOST.set(outer);
      outer.innerEnds();
    }
  }
}
