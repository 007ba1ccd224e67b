package io.amqplocks.spring.internal.guard.call;

import java.util.concurrent.locks.ReentrantLock;

/**
 * Interrupts the thread that runs a method when a lease is lost under it, and at no other time.
 *
 * <p>Concurrency: the notice of a loss comes on another thread, at any time. It interrupts under
 * the lock, and only while the method runs; the end of the method is set under the same lock by the
 * thread itself. So each interrupt comes before the end or not at all: none can hit what the thread
 * does later. At the end the thread clears the flag if it was set here and the method has not. It
 * leaves one alone that was set before by others; one that others set after this one cannot be told
 * apart and goes with it. Nothing blocks under the lock.
 */
final class Interruption {

  private final Thread thread = Thread.currentThread();
  private final ReentrantLock lock = new ReentrantLock();
  private boolean running = true;
  private boolean interrupted;

  /** Interrupts the thread that made this object, if its method still runs. */
  void interrupt() {
    lock.lock();
    try {
      if (running && !thread.isInterrupted()) {
        interrupted = true;
        thread.interrupt();
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
  }
}
