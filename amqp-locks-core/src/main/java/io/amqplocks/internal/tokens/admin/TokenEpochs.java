package io.amqplocks.internal.tokens.admin;

import io.amqplocks.internal.tokens.TokenRecord;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.util.function.LongSupplier;

/**
 * The epochs of tokens, which follow the clock.
 *
 * @param lock the lock whose tokens these are
 * @param minutes the minutes since 1970
 */
record TokenEpochs(LockId lock, LongSupplier minutes) {

  private static final long AN_HOUR = 60;

  /**
   * The epoch of tokens that are created now. An epoch that no client could read is refused before
   * anything is written.
   */
  long next(TokenRecord from) {
    long epoch = from.nextEpoch(minutes.getAsLong());
    if (epoch < 1 || epoch > FencingToken.MAX_EPOCH) {
      throw new LockException.Unexpected(
          "No tokens of %s can be made: their epoch, minutes since 1970, would be %d, and %d is the last; see"
                  .formatted(lock, epoch, FencingToken.MAX_EPOCH)
              + " that this machine's clock is right",
          null);
    }
    return epoch;
  }

  /**
   * Whether a generation and an epoch from the clock would be above all earlier ones, by the clock
   * of any machine that is less than an hour behind.
   */
  boolean arePassed(TokenRecord record) {
    return Math.max(record.reserved(), record.epoch()) < minutes.getAsLong() - AN_HOUR;
  }

  /** The clock's minutes as a 31-bit number. */
  int now() {
    return Math.toIntExact(Math.max(1, minutes.getAsLong()));
  }
}
