package io.amqplocks.inmemory;

import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseSnapshot;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LossReason;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** A lease in memory. Its status is written under the table's monitor, and read without it. */
final class InMemoryLease implements Lease {

  private final LockTable table;
  private final LockId lock;
  private final LockState.Grant grant;
  private final @Nullable Duration holdAtMost;
  private final String thread;
  private final long acquiredAt;
  private final long limitAt;
  private final LeaseEvents events;
  private volatile LeaseStatus status = LeaseStatus.HELD;

  InMemoryLease(
      LockTable table,
      LockId lock,
      LockState.Grant grant,
      String thread,
      long acquiredAt,
      @Nullable Duration holdAtMost) {
    this.table = table;
    this.lock = lock;
    this.grant = grant;
    this.thread = thread;
    this.holdAtMost = holdAtMost;
    this.acquiredAt = acquiredAt;
    limitAt = holdAtMost == null ? Time.NEVER : Time.after(acquiredAt, holdAtMost);
    events = new LeaseEvents(this, table.notices());
  }

  @Override
  public LockId lock() {
    return lock;
  }

  @Override
  public int slot() {
    return grant.slots().get(0);
  }

  @Override
  public int permits() {
    return grant.slots().size();
  }

  @Override
  public FencingToken fencingToken() {
    return fencingTokenIfAny()
        .orElseThrow(
            () ->
                new LockException.NotFenced(
                    "The lease of slot %d of %s has no fencing token; acquire it by lock.fenced()"
                        .formatted(slot(), lock)));
  }

  @Override
  public Optional<FencingToken> fencingTokenIfAny() {
    return grant.tokens().stream().findFirst();
  }

  @Override
  public List<FencingToken> fencingTokens() {
    return grant.tokens();
  }

  @Override
  public LeaseState state() {
    if (limitAt <= table.time().nanos()) {
      table.settle();
    }
    return status.state();
  }

  @Override
  public LeaseState verify() {
    table.verify(this);
    return status.state();
  }

  @Override
  public Optional<LossReason> lossReason() {
    return Optional.ofNullable(status.loss());
  }

  @Override
  public CompletionStage<LossReason> whenLost() {
    return events.whenLost();
  }

  @Override
  public Duration age() {
    LeaseStatus now = status;
    return Duration.ofNanos((now.isFinal() ? now.endedAt() : table.time().nanos()) - acquiredAt);
  }

  @Override
  public void close() {
    table.release(this);
  }

  boolean isOf(LockTable other) {
    return table.equals(other);
  }

  LeaseStatus status() {
    return status;
  }

  /** To be called under the table's monitor only. */
  void become(LeaseStatus next) {
    status = next;
  }

  LockState.Grant grant() {
    return grant;
  }

  /** The name of the thread that called for it. */
  String thread() {
    return thread;
  }

  long acquiredAt() {
    return acquiredAt;
  }

  long limitAt() {
    return limitAt;
  }

  LossReason limitReached() {
    return new LossReason(
        LossReason.Cause.HOLD_LIMIT, "held for %s, the longest that it may".formatted(holdAtMost));
  }

  LeaseEvents events() {
    return events;
  }

  LeaseSnapshot snapshot() {
    return new LeaseSnapshot(
        lock,
        grant.slots(),
        status.state() == LeaseState.HELD ? LeaseState.HELD : LeaseState.UNCERTAIN,
        age(),
        Duration.ZERO,
        fencingTokenIfAny(),
        "in memory");
  }

  /** What it holds of its lock, for messages. */
  String what() {
    return permits() == 1 ? "slot " + slot() : permits() + " permits";
  }

  @Override
  public String toString() {
    return "lease of " + what() + " of " + lock + " (" + status.state() + ")";
  }
}
