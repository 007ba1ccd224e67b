package io.amqplocks.internal.admin;

import io.amqplocks.internal.session.MessageHand.Message;
import io.amqplocks.internal.tokens.TokenRecord;
import io.amqplocks.internal.tokens.TokenSet;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.TokenQueueType;
import io.amqplocks.lock.TokenSemaphoreAdmin;
import java.util.Collection;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;

/**
 * The same for the plain protocol of seed 000: one queue for ever, in which any message is a token, and
 * which strangers may have made, and may publish to and take from. So tokens can only be counted.
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
   * A queue of a stranger's is taken as it is. How many of its tokens are in use, nobody can see: it is
   * taken to have as many as wanted, or as many as wait in it if that is more.
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
              + " are in use, adopt it by createIfAbsent(%d, CLASSIC); then repair(patience) sets right how"
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
  TokenRecord move(TokenRecord from, int wanted, TokenQueueType type) {
    long epoch = epochs.next(from);
    broker.tryOut(type);
    TokenRecord record = write(from.reserved(ONLY, epoch));
    // What is there was left by a maker that died. Classic queues may use a name again.
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

  /** There is no other queue to move to: if they come after all, there are too many. */
  @Override
  void replace(
      TokenRecord from, TokenBroker.Hand hand, Collection<Message> inHand, Set<Integer> lost) {
    Set<Integer> seen = new TreeSet<>(sort(from, inHand).members().keySet());
    seen.removeAll(from.tokens().epochs().keySet());
    TokenRecord record = write(from.present(seen).lost(lost));
    grow(withdraw(record, hand, inHand));
  }
}
