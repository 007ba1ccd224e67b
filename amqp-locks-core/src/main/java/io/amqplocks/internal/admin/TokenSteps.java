package io.amqplocks.internal.admin;

import io.amqplocks.internal.session.MessageHand.Message;
import io.amqplocks.internal.tokens.TokenRecord;
import io.amqplocks.internal.tokens.TokenSet;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.TokenAudit;
import io.amqplocks.lock.TokenQueueType;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The steps that change a token semaphore, for an administrator whose turn it is; it may die between any
 * two of them, and whoever runs the same again finds the rest to do.
 *
 * <p>Why there are never more tokens than wanted: the record names a token as {@code adding} before it is
 * published, and as {@code withdrawing} before it is removed, and new ones are made only for what is
 * wanted beyond all that are named. So a token that may be there takes the place of one that is. It is
 * settled when somebody sees it; nobody can see that it is not there.
 *
 * <p>A queue is filled once, by its maker, before the record names it: what a dead maker left is deleted,
 * and its name is not used again, since {@code reserved} was written before it. The old queue is deleted
 * before the new one counts; so all tokens of the old are taken before any of the new.
 */
class TokenSteps {

  private static final Logger log = LoggerFactory.getLogger(TokenSteps.class);

  final LockId lock;
  final TokenBroker broker;
  final TokenEpochs epochs;

  /** With that clock, for epochs. */
  TokenSteps(LockId lock, TokenBroker broker, LongSupplier minutes) {
    this.lock = lock;
    this.broker = broker;
    epochs = new TokenEpochs(lock, minutes);
  }

  /** Which message is which token. */
  TokenSorting sort(TokenRecord record, Collection<Message> messages) {
    return TokenSorting.byContent(record, messages);
  }

  /** Makes the semaphore if it is not there, or leaves it as it is and finishes what was begun. */
  TokenRecord create(int wanted, TokenQueueType type, boolean adopt) {
    TokenRecord record = broker.record();
    if (adopt && record.slots() > 0) {
      return exists(record) ? settle(record) : move(record, record.slots(), record.type());
    }
    if (!exists(record)) {
      return move(record, wanted, type);
    }
    if (record.slots() != wanted || record.type() != type) {
      throw new LockException.Conflict(
          "There is a %s already, with %d slots on a %s queue and not %d on a %s one; it stays as it is"
              .formatted(lock, record.slots(), record.type(), wanted, type));
    }
    return settle(record);
  }

  boolean exists(TokenRecord record) {
    return record.slots() > 0
        && record.generation() > 0
        && broker.idle(record.generation()).isPresent();
  }

  /** Makes a new queue with all of its tokens, which then takes the place of the old one. */
  TokenRecord move(TokenRecord from, int wanted, TokenQueueType type) {
    long epoch = epochs.next(from);
    TokenRecord begun = from.reserved() == 0 ? from.begun(epochs.now()) : from;
    broker.tryOut(type);
    int next = begun.reserved() + 1;
    while (broker.idle(next).isPresent()) {
      // The record was lost, or a stranger made it: it is not ours to fill.
      next++;
    }
    TokenRecord record = write(begun.reserved(next, epoch));
    broker.make(next, type);
    TokenSet tokens =
        TokenSet.of(IntStream.rangeClosed(1, wanted).boxed().toList(), record.epoch());
    broker.publish(next, tokens.contents(broker.brokerMajor()));
    int there = broker.idle(next).orElse(0);
    if (there != wanted) {
      broker.delete(next);
      throw new LockException.Unexpected(
          "The %s cannot be made: of %d tokens published %d are in the queue; see that no policy sets"
                  .formatted(lock, wanted, there)
              + " max-length, message-ttl or expires on the locks' queues",
          null);
    }
    deleteAll(begun, next - 1);
    return write(record.moved(type, wanted, broker.brokerMajor()));
  }

  private void deleteAll(TokenRecord record, int last) {
    for (int generation = Math.max(1, record.generation()); generation <= last; generation++) {
      broker.delete(generation);
    }
  }

  /**
   * Removes the semaphore; first for all who read the record, then for those who do not. The record goes too
   * if the clock has passed all that it names: whoever creates the semaphore again begins above that.
   */
  TokenRecord destroy() {
    TokenRecord record = broker.record();
    if (record.slots() > 0) {
      record = write(record.destroyed());
    }
    deleteAll(record, record.reserved());
    record = deleted(record);
    if (epochs.arePassed(record)) {
      broker.forget();
    }
    return record;
  }

  /** Notes that no queue is left. */
  TokenRecord deleted(TokenRecord record) {
    return record.generation() == record.reserved() ? record : write(record.deleted());
  }

  /** Wants another number of slots, and does at once what can be done at once. */
  TokenRecord resize(int wanted) {
    TokenRecord record = existing();
    if (record.resized(wanted).missing() > 0) {
      long unused = epochs.next(record);
    }
    record = record.slots() == wanted ? record : write(record.resized(wanted));
    return settle(withoutSurplus(record));
  }

  /** Removes what others added, where it shows: more wait than there can be. */
  private TokenRecord withoutSurplus(TokenRecord from) {
    int idle = broker.idle(from.generation()).orElse(0);
    if (idle <= from.members().size()) {
      return from;
    }
    try (TokenBroker.Hand hand = broker.hand(from.generation())) {
      return withdraw(from, hand, hand.take(Integer.MAX_VALUE));
    }
  }

  /** The record of a semaphore that there is. */
  TokenRecord existing() {
    TokenRecord record = broker.record();
    if (record.slots() == 0) {
      throw new LockException.NotFound("There is no %s; create it".formatted(lock));
    }
    if (!exists(record)) {
      throw new LockException.NotFound(
          "The queue of %s is gone; repair it, or create it again".formatted(lock));
    }
    return record;
  }

  /**
   * Makes the queue anew if it is gone, and with it all tokens.
   *
   * @return what was wrong; empty if the queue is there, or the semaphore is not wanted
   */
  Optional<TokenAudit> restore() {
    TokenRecord record = broker.record();
    if (record.slots() == 0 || exists(record)) {
      return Optional.empty();
    }
    move(record, record.slots(), record.type());
    return Optional.of(TokenFindings.repaired(audit(record, List.of())));
  }

  /** Brings the tokens to what the record wants, as far as that goes without waiting for holders. */
  TokenRecord settle(TokenRecord from) {
    TokenRecord record = from;
    if (record.pending() > 0 || record.unsettled() > 0) {
      try (TokenBroker.Hand hand = broker.hand(record.generation())) {
        int most = record.unsettled() > 0 ? Integer.MAX_VALUE : record.pending();
        record = withdraw(record, hand, hand.take(most));
      }
    }
    return grow(record);
  }

  TokenRecord grow(TokenRecord from) {
    List<Integer> free = from.freeSlots();
    if (free.isEmpty()) {
      return from;
    }
    TokenRecord record = write(from.adding(free, epochs.next(from)));
    // As all tokens of this queue are.
    broker.publish(record.generation(), record.adding().only(free).contents(record.brokerMajor()));
    return write(record.present(free));
  }

  /** Notes which of the tokens in hand are there, and removes those that are too many. */
  TokenRecord withdraw(TokenRecord from, TokenBroker.Hand hand, Collection<Message> inHand) {
    TokenSorting sorted = sort(from, inHand);
    List<Integer> seen =
        sorted.members().keySet().stream()
            .filter(slot -> !from.tokens().epochs().containsKey(slot))
            .toList();
    TokenRecord record = seen.isEmpty() ? from : write(from.present(seen));
    if (!sorted.surplus().isEmpty()) {
      log.warn(
          "{} messages that are no tokens of {}, or too many, were removed; somebody publishes there",
          sorted.surplus().size(),
          lock);
      hand.remove(sorted.surplus());
    }
    if (record.pending() == 0) {
      return record;
    }
    List<Integer> victims =
        sorted.members().descendingKeySet().stream().limit(record.pending()).toList();
    if (victims.isEmpty()) {
      return record;
    }
    record = write(record.withdrawing(victims));
    hand.remove(victims.stream().map(sorted.members()::get).toList());
    return write(record.withdrawn(victims));
  }

  /**
   * Makes right what is wrong, with all tokens in hand that could be had.
   *
   * @return what was wrong
   */
  TokenAudit repair(TokenRecord from, TokenBroker.Hand hand, Collection<Message> inHand) {
    TokenAudit found = audit(from, inHand);
    boolean counted =
        from.type() == TokenQueueType.CLASSIC || from.brokerMajor() == broker.brokerMajor();
    if (found.outstanding() > 0 || !counted) {
      replace(from, hand, inHand, found.outstandingSlots());
      return TokenFindings.repaired(found);
    }
    List<Message> surplus = sort(from, inHand).surplus();
    hand.remove(surplus);
    List<Message> rest = new ArrayList<>(inHand);
    rest.removeIf(new HashSet<>(surplus)::contains);
    TokenRecord record = withdraw(from, hand, rest);
    boolean missing = record.missing() > 0;
    grow(record);
    return found.surplus() > 0 || missing || !record.equals(from)
        ? TokenFindings.repaired(found)
        : found;
  }

  /** Notes that the broker has another major version now; tokens of a classic queue take no harm. */
  TokenRecord upgrade() {
    TokenRecord record = existing();
    return record.type() == TokenQueueType.QUORUM || record.brokerMajor() == broker.brokerMajor()
        ? record
        : write(record.upgraded(broker.brokerMajor()));
  }

  /**
   * Moves the tokens to a queue as the broker's version wants it, if all that there may be are in hand.
   *
   * @return what is in the way
   */
  TokenAudit upgrade(TokenRecord from, Collection<Message> inHand) {
    TokenAudit found = audit(from, inHand);
    if (found.outstanding() == 0 && from.brokerMajor() != broker.brokerMajor()) {
      move(from, from.slots(), from.type());
    }
    return found;
  }

  /** Those slots' tokens did not come, and must never count again if they do. */
  void replace(
      TokenRecord from, TokenBroker.Hand hand, Collection<Message> inHand, Set<Integer> lost) {
    move(from, from.slots(), from.type());
  }

  /** What these tokens in hand, being all that could be had, say of the semaphore. */
  TokenAudit audit(TokenRecord record, Collection<Message> inHand) {
    return TokenFindings.audit(record, inHand.size(), sort(record, inHand));
  }

  TokenRecord write(TokenRecord next) {
    broker.write(next);
    return next;
  }
}
