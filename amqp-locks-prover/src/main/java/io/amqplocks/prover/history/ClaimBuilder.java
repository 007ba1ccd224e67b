package io.amqplocks.prover.history;

import io.amqplocks.prover.driver.Command;
import io.amqplocks.prover.driver.Event;
import io.amqplocks.prover.driver.LockRef;
import io.amqplocks.prover.history.Claim.End;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Puts the events of one lease together.
 *
 * <p>A client is certain to hold the lock from the first to the last time that it asked its lease
 * without another answer in between. Where it did not ask for long, it may have been uncertain in
 * the meantime without noticing. So a gap ends the interval: what is not known is never counted.
 */
final class ClaimBuilder {

  /** How long a client may keep silent about a lease and count as certain. */
  private static final long LONGEST_GAP = TimeUnit.MILLISECONDS.toNanos(100);

  private final String client;
  private final LockRef lock;
  private final Command command;
  private final List<Interval> certain = new ArrayList<>();
  private @Nullable Event acquired;
  private long first;
  private long last;
  private boolean isCertain;
  private End end = End.UNKNOWN;
  private long ended;

  ClaimBuilder(String client, LockRef lock, Command command) {
    this.client = client;
    this.lock = lock;
    this.command = command;
  }

  void add(Event event) {
    boolean isLost = end == End.LOST;
    switch (event.what()) {
      case ACQUIRED -> {
        acquired = event;
        begin(event.at());
      }
      case HELD, RELEASES -> held(event.at());
      case UNCERTAIN -> doubt();
      case LOST -> {
        doubt();
        end = End.LOST;
      }
      case RELEASED -> {
        doubt();
        end = end == End.LOST ? End.LOST : End.RELEASED;
      }
      case ASKS, BUSY, FAILED, HANDLED, PUBLISHED, DONE, NOT_DONE, UNSUPPORTED -> {}
      case NOTIFIED, NOT_NOTIFIED, REFUSED -> {
        return;
      }
    }
    // The close of a lost lease says nothing of when that was lost.
    ended = isLost ? ended : event.at();
  }

  private void begin(long at) {
    first = at;
    last = at;
    isCertain = true;
  }

  private void held(long at) {
    if (!isCertain || at - last > LONGEST_GAP) {
      doubt();
      begin(at);
    }
    last = at;
  }

  private void doubt() {
    if (isCertain && last > first) {
      certain.add(new Interval(first, last));
    }
    isCertain = false;
  }

  Optional<Claim> build() {
    doubt();
    Event got = acquired;
    return got == null
        ? Optional.empty()
        : Optional.of(
            new Claim(
                client,
                lock,
                got.id(),
                got.cycle(),
                command.reads(),
                command.fenced() || lock.kind().isFenced(),
                Math.max(1, command.permits()),
                got.slot(),
                got.token(),
                got.from(),
                got.at(),
                List.copyOf(certain),
                end,
                ended));
  }
}
