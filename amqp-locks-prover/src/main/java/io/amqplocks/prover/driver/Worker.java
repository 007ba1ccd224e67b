package io.amqplocks.prover.driver;

import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LossReason;
import io.amqplocks.prover.driver.Event.What;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Acquires, holds and releases a lock, and says what it sees.
 *
 * <p>What it says of itself is never more than it knows: it says that it holds the lock at a moment
 * only if it asked its lease after that moment and the answer was HELD. While it is stopped it says
 * nothing.
 *
 * <p>To a guarded row it writes whatever it knows, also when its lease is uncertain, lost or
 * released: to refuse what is superseded is the row's part.
 *
 * <p>Concurrency: for one thread.
 */
final class Worker {

  /** How often it asks its lease. */
  private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(10);

  /** How long a notification may take on a machine that is busy, in tenths of a second. */
  private static final int PATIENCE = 50;

  /** One in so many leases writes to its row once more after its release. */
  private static final int LATE = 3;

  /** Until then, another lease of the process may have written. */
  private static final long LATE_MICROS = 20_000;

  /** After a loss, until then, another client may have written. */
  private static final long LATE_AFTER_LOSS_MICROS = 100_000;

  private final Command command;
  private final AmqpLock lock;
  private final Consumer<Event> out;
  private int cycle;
  private long asked;

  Worker(Command command, AmqpLock lock, Consumer<Event> out) {
    this.command = command;
    this.lock = lock;
    this.out = out;
  }

  void work() throws InterruptedException {
    int cycles = command.cycles() == 0 ? Integer.MAX_VALUE : command.cycles();
    long end = command.untilNanos() == 0 ? Long.MAX_VALUE : command.untilNanos();
    try (GuardedRow row = GuardedRow.of(command)) {
      while (cycle < cycles && System.nanoTime() < end) {
        cycle++;
        asked = System.nanoTime();
        say(What.ASKS, asked, null, null);
        Optional<Lease> lease = acquire();
        boolean hasWritten = lease.isPresent() && hold(lease.get(), row);
        if (hasWritten && command.store() != null && isFenced()) {
          writeLate(lease.get(), row);
        }
        pause(command.pauseMicros());
      }
    }
  }

  private Optional<Lease> acquire() throws InterruptedException {
    try {
      Lease lease =
          command.waitMillis() == 0
              ? lock.tryAcquire().orElse(null)
              : lock.acquire(Duration.ofMillis(command.waitMillis()));
      if (lease == null) {
        say(What.BUSY, System.nanoTime(), null, null);
      }
      return Optional.ofNullable(lease);
    } catch (LockException.AcquireTimeout e) {
      say(What.BUSY, System.nanoTime(), null, null);
    } catch (LockException e) {
      say(What.FAILED, System.nanoTime(), null, e.toString());
      // A broker that is away says so at once, again and again.
      pause(TimeUnit.MILLISECONDS.toMicros(50));
    }
    return Optional.empty();
  }

  /** Returns whether its row has taken all of its writes. */
  private boolean hold(Lease lease, GuardedRow row) {
    CompletableFuture<LossReason> loss = listen(lease);
    boolean isHeld = true;
    boolean writes = false;
    try (lease) {
      say(What.ACQUIRED, System.nanoTime(), lease, null);
      writes = isTaken(row.begin(slot(lease), token(lease)), lease);
      long end = System.nanoTime() + TimeUnit.MICROSECONDS.toNanos(command.holdMicros());
      while (System.nanoTime() < end && look(lease, What.HELD)) {
        writes = writes && isTaken(row.add(token(lease)), lease);
        pause(TimeUnit.NANOSECONDS.toMicros(Math.min(LOOK_NANOS, end - System.nanoTime())));
      }
      isHeld = look(lease, What.RELEASES);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    if (lease.state() == LeaseState.LOST) {
      if (isHeld) {
        // It was lost after the last look, so the release did nothing.
        say(What.LOST, System.nanoTime(), null, reason(lease));
      }
      requireNotification(loss);
    }
    say(What.RELEASED, System.nanoTime(), null, null);
    return writes;
  }

  /** As a holder that does not notice the end of its lease. */
  private void writeLate(Lease lease, GuardedRow row) throws InterruptedException {
    boolean isLost = lease.state() == LeaseState.LOST;
    if (isLost || (command.id() + cycle) % LATE == 0) {
      pause(isLost ? LATE_AFTER_LOSS_MICROS : LATE_MICROS);
      boolean unused = isTaken(row.add(token(lease)), lease);
    }
  }

  private boolean isTaken(boolean taken, Lease lease) {
    if (!taken) {
      say(What.REFUSED, System.nanoTime(), lease, null);
    }
    return taken;
  }

  private boolean isFenced() {
    LockRef ref = command.lock();
    return command.fenced() || (ref != null && ref.kind().isFenced());
  }

  /** As a user writes it: asked for at each write. */
  private long token(Lease lease) {
    return isFenced() ? lease.fencingTokenIfAny().map(FencingToken::number).orElse(0L) : 0;
  }

  /** The one that the token belongs to. */
  private static int slot(Lease lease) {
    return lease.fencingTokenIfAny().map(FencingToken::slot).orElseGet(lease::slot);
  }

  /** Asks the lease, and says what it answered. Returns whether it may still be held. */
  private boolean look(Lease lease, What ifHeld) {
    long before = System.nanoTime();
    LeaseState state = lease.state();
    switch (state) {
      case HELD -> say(ifHeld, before, lease, null);
      case UNCERTAIN -> say(What.UNCERTAIN, System.nanoTime(), lease, null);
      case LOST, RELEASED -> {
        say(What.LOST, System.nanoTime(), null, reason(lease));
        return false;
      }
    }
    return true;
  }

  private static String reason(Lease lease) {
    return lease.lossReason().map(Object::toString).orElse(lease.state().toString());
  }

  /** A notification may come at any time, also when it should not: after the release. */
  private CompletableFuture<LossReason> listen(Lease lease) {
    int of = cycle;
    long since = asked;
    return lease
        .whenLost()
        .thenApply(
            reason -> {
              long now = System.nanoTime();
              String detail = reason.toString();
              out.accept(new Event(command.id(), of, What.NOTIFIED, since, now, 0, 0, detail));
              return reason;
            })
        .toCompletableFuture();
  }

  /** It waits in short steps: the time for which the client is stopped counts as one of them. */
  private void requireNotification(CompletableFuture<LossReason> loss) {
    for (int i = 0; i < PATIENCE; i++) {
      try {
        var unused = loss.get(100, TimeUnit.MILLISECONDS);
        return;
      } catch (TimeoutException notYet) {
        // The next look may find it.
      } catch (ExecutionException e) {
        break;
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return;
      }
    }
    say(What.NOT_NOTIFIED, System.nanoTime(), null, null);
  }

  private void say(What what, long at, @Nullable Lease lease, @Nullable String detail) {
    Optional<FencingToken> token = lease == null ? Optional.empty() : lease.fencingTokenIfAny();
    // An unfenced lease may have moved to another slot; its token has not.
    int slot = lease == null ? 0 : slot(lease);
    long number = token.map(FencingToken::number).orElse(0L);
    out.accept(new Event(command.id(), cycle, what, asked, at, slot, number, detail));
  }

  private static void pause(long micros) throws InterruptedException {
    if (micros > 0) {
      TimeUnit.MICROSECONDS.sleep(micros);
    }
  }
}
