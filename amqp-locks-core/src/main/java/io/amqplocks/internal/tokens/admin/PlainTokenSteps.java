package io.amqplocks.internal.tokens.admin;

import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.admin.TokenSemaphoreAdmin;
import io.amqplocks.internal.tokens.TokenRecord;
import io.amqplocks.internal.tokens.TokenSet;
import io.amqplocks.internal.tokens.admin.UnackedMessages.Message;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.util.Collection;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;

/**
 * The steps that change a token semaphore of the blog post's plain protocol. It has one queue
 * forever, in which any message is a token. Other clients may have created that queue, may publish
 * to it, and may take from it. So tokens can only be counted.
 */
final class PlainTokenSteps extends TokenSteps {

  private static final int ONLY = 1;

  PlainTokenSteps(LockId lock, TokenBroker broker, LongSupplier minutes) {
    super(lock, broker, minutes);
  }

  @Override
  TokenSorting sort(TokenRecord record, Collection<Message> messages) {
    return TokenSorting.byCount(record, messages);
  }

  /**
   * Adopts another client's queue as it is. Nobody can see how many of its tokens are in use. So it
   * is assumed to have as many tokens as wanted, or as many as are idle if those are more.
   */
  @Override
  TokenRecord create(int wanted, TokenQueueType type, boolean adopt) {
    TokenRecord record = broker.record();
    OptionalInt idle = broker.idle(ONLY);
    boolean ours = record.reserved() > 0;
    if (ours || idle.isEmpty()) {
      return super.create(wanted, type, adopt);
    }
    if (!adopt && idle.getAsInt() != wanted) {
      throw new LockException.Conflict(
          "There is a queue of %s already, with %d tokens waiting and not %d; it stays as it is. If others"
                  .formatted(lock, idle.getAsInt(), wanted)
              + " are in use, adopt it by createIfAbsent(%d, CLASSIC); then repair(timeout) sets right how"
                  .formatted(wanted)
              + " many there are");
    }
    if (idle.getAsInt() > TokenSemaphoreAdmin.MAX_SLOTS) {
      throw new LockException.Conflict(
          "There is a queue of %s already, with %d tokens waiting, and %d are the most that can be"
                  .formatted(lock, idle.getAsInt(), TokenSemaphoreAdmin.MAX_SLOTS)
              + " administrated; it stays as it is");
    }
    broker.tryOut(type);
    return write(
        record
            .reserved(ONLY, epochs.next(record))
            .moved(type, Math.max(wanted, idle.getAsInt()), broker.brokerMajor()));
  }

  @Override
  TokenRecord moveAfterTrial(TokenRecord from, int wanted, TokenQueueType type) {
    long epoch = epochs.next(from);
    TokenRecord record = write(from.reserved(ONLY, epoch));
    // An existing queue was left by an administrator that died. Classic queues may use a name
    // again.
    broker.delete(ONLY);
    broker.make(ONLY, type);
    TokenSet tokens =
        TokenSet.of(IntStream.rangeClosed(1, wanted).boxed().toList(), record.epoch());
    broker.publish(ONLY, tokens.contents(broker.brokerMajor()));
    return write(record.moved(type, wanted, broker.brokerMajor()));
  }

  @Override
  TokenRecord deleted(TokenRecord record) {
    return record.reserved() == 0 ? record : write(record.restarted());
  }

  /** There is no other queue to move to. If the tokens come back after all, there are too many. */
  @Override
  void replace(
      TokenRecord from, TokenBroker.Unacked unacked, Collection<Message> taken, Set<Integer> lost) {
    Set<Integer> seen = new TreeSet<>(sort(from, taken).members().keySet());
    seen.removeAll(from.tokens().epochs().keySet());
    TokenRecord record = write(from.present(seen).lost(lost));
    grow(withdraw(record, unacked, taken));
  }
}
