package io.amqplocks.internal.tokens;

import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.Futures;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.topology.QueueNames;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * Reads the records of token semaphores, as anybody may.
 *
 * <p>What is read may be out of date as soon as it is read, or before: while another reader has the
 * newest version in hand, only an older one may be seen. It is good for finding the token queue. If that
 * is gone, read again.
 *
 * @param names how their queues are called
 */
public record TokenRecords(QueueNames names) {

  private static final long PAUSE_NANOS = 2_000_000;

  /** The record of that lock; empty if it was never created. */
  public Optional<TokenRecord> read(Call call, Session session, LockId lock) {
    String queue = names.tokenRecord(lock);
    // The last question needs time for its answer.
    Call patience = call.half();
    while (true) {
      Optional<List<String>> texts = session.counters().readAll(call, queue);
      if (texts.isEmpty()) {
        return Optional.empty();
      }
      Optional<TokenRecord> newest = newest(texts.get());
      if (newest.isPresent()) {
        return newest;
      }
      // Another reader has it, for less than a round trip.
      if (patience.remainingNanos() == 0) {
        throw new LockException.Unexpected(
            "The record of %s in queue %s was empty for %d ms; if that lasts, have an administrator create"
                    .formatted(lock, queue, call.bound().toMillis() / 2)
                + " or repair it: that writes it again",
            null);
      }
      Futures.pause(PAUSE_NANOS);
    }
  }

  /** The one that counts of those. */
  public static Optional<TokenRecord> newest(List<String> texts) {
    return texts.stream()
        .flatMap(text -> TokenRecord.parse(text).stream())
        .max(Comparator.comparingLong(TokenRecord::version));
  }
}
