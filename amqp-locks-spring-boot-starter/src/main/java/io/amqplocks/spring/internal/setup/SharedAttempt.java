package io.amqplocks.spring.internal.setup;

import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.util.OptionalInt;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.IntSupplier;

/**
 * One attempt to create a semaphore, which all threads share that want it at the time: the first
 * one makes it, and the others wait for that.
 */
final class SharedAttempt {

  private final LockId id;
  private final FutureTask<Integer> task;
  private final AtomicBoolean begun = new AtomicBoolean();

  /** An attempt that nobody has begun yet, and that brings the number of slots. */
  SharedAttempt(LockId id, IntSupplier create) {
    this.id = id;
    task = new FutureTask<>(create::getAsInt);
  }

  /**
   * Makes the attempt, or waits for the thread that does.
   *
   * @return false if another thread made it and was interrupted: this one was not
   * @throws LockException if it failed, or this thread was interrupted
   */
  boolean join() {
    boolean mine = begun.compareAndSet(false, true);
    if (mine) {
      task.run();
    }
    try {
      task.get();
      return true;
    } catch (ExecutionException e) {
      if (mine) {
        throw SharedFailure.asItIs(id, e.getCause());
      }
      if (e.getCause() instanceof LockException.Interrupted) {
        return false;
      }
      throw SharedFailure.inAnotherThread(id, e.getCause());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new LockException.Interrupted("Interrupted while waiting for " + id);
    }
  }

  boolean isDone() {
    return task.isDone();
  }

  boolean hasFailed() {
    return isDone() && slots().isEmpty();
  }

  /** How many slots the semaphore had; empty if the attempt has failed, or has not ended yet. */
  OptionalInt slots() {
    if (!isDone()) {
      return OptionalInt.empty();
    }
    try {
      return OptionalInt.of(task.get());
    } catch (ExecutionException | CancellationException e) {
      return OptionalInt.empty();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return OptionalInt.empty();
    }
  }
}
