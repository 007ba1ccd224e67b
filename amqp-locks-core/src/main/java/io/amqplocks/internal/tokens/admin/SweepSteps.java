package io.amqplocks.internal.tokens.admin;

import io.amqplocks.admin.TokenAudit;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.internal.tokens.TokenRecord;
import io.amqplocks.internal.tokens.admin.KeyEntry.Look;
import io.amqplocks.internal.tokens.admin.UnackedMessages.Message;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The steps that remove a token semaphore that nobody uses, for an administrator whose turn it is.
 *
 * <p>Why no holder loses a token: the semaphore is removed while all of its tokens are in the
 * administrator's hand. Nobody else has one then, and nobody gets one before the queue is deleted.
 * No other administrator can create the semaphore anew before that, because it has no turn. So no
 * two generations are ever in use at once. Whoever acquires meanwhile finds no idle token, and then
 * no queue.
 *
 * <p>A semaphore is removed only if its record can be deleted with it ({@link TokenEpochs}). So
 * nothing of it is left.
 *
 * @param steps the steps of that semaphore
 */
record SweepSteps(TokenSteps steps) {

  /**
   * What became of the semaphore.
   *
   * @param isGone whether it does not exist any more
   * @param look what is to be compared at the next look; null if it is in use
   */
  record Outcome(boolean isGone, @Nullable Look look) {
    static final Outcome GONE = new Outcome(true, null);
    static final Outcome IN_USE = new Outcome(false, null);
  }

  /**
   * Looks at the semaphore, and removes it if it was unused for long enough.
   *
   * @param before what the last look saw; null if it was in use, or if this is the first look
   * @param now the second since 1970
   * @param unused for how many seconds nobody must have used it
   */
  Outcome sweep(@Nullable Look before, long now, long unused) {
    TokenRecord record = steps.broker.record();
    if (record.slots() == 0) {
      return record.equals(TokenRecord.BLANK) ? withoutRecord(before, now) : withoutSlots(record);
    }
    boolean seemsIdle =
        record.unsettled() == 0
            && steps.exists(record)
            && steps.broker.idle(record.generation()).orElse(0) == record.slots();
    if (!seemsIdle) {
      return Outcome.IN_USE;
    }
    try (TokenBroker.Unacked unacked = steps.broker.unacked(record)) {
      List<Message> taken = unacked.take(Integer.MAX_VALUE);
      TokenAudit found = steps.audit(record, taken);
      if (!found.isClean() || found.seen() != record.slots()) {
        return Outcome.IN_USE;
      }
      long returns = returns(record, taken);
      boolean isUnchanged =
          before != null
              && before.generation() == record.generation()
              && before.returns() == returns;
      long since = before != null && isUnchanged ? before.since() : now;
      if (isUnchanged && now - since >= unused && steps.epochs.arePassed(record)) {
        TokenRecord unusedRecord = steps.destroy();
        return Outcome.GONE;
      }
      // This look puts each token back once more.
      long after = record.type() == TokenQueueType.QUORUM ? returns + taken.size() : 0;
      return new Outcome(false, new Look(since, record.generation(), after));
    }
  }

  /**
   * A semaphore of which there is nothing, not even a record. Its administrator may have died right
   * after it made the entry, and the broker may still have steps of it to take. So one look more
   * has to find the same.
   */
  private Outcome withoutRecord(@Nullable Look before, long now) {
    if (before != null && before.generation() == 0) {
      return Outcome.GONE;
    }
    return new Outcome(false, new Look(now, 0, 0));
  }

  /** A semaphore that was destroyed by somebody, and whose record may still be there. */
  private Outcome withoutSlots(TokenRecord record) {
    if (record.reserved() > 0 && !steps.epochs.arePassed(record)) {
      return Outcome.IN_USE;
    }
    TokenRecord unusedRecord = steps.destroy();
    return Outcome.GONE;
  }

  /**
   * How often the tokens were put back before, all together. If that was by earlier looks only,
   * nobody has acquired one in between. A classic queue does not count it.
   */
  private static long returns(TokenRecord record, List<Message> taken) {
    return record.type() == TokenQueueType.QUORUM
        ? taken.stream().mapToLong(Message::returns).sum()
        : 0;
  }
}
