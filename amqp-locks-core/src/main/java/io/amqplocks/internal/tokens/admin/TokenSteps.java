package io.amqplocks.internal.tokens.admin;

import io.amqplocks.admin.TokenAudit;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.internal.tokens.TokenRecord;
import io.amqplocks.internal.tokens.TokenSet;
import io.amqplocks.internal.tokens.admin.UnackedMessages.Message;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The steps that change a token semaphore, for an administrator whose turn it is. If it dies
 * between two steps, the next administrator that runs the same change completes it.
 *
 * <p>There are never more tokens than wanted. The record names a token as {@code adding} before it
 * is published, and as {@code withdrawing} before it is removed. New tokens are created only if
 * fewer are named than wanted. So a token that may exist counts like one that does. It is settled
 * when somebody sees it. Nobody can see that it does not exist.
 *
 * <p>A queue is filled once, by its creator, before the record names it. A queue that a dead
 * creator left is deleted. Its name is not used again, because {@code reserved} was written before
 * it. The old queue is deleted before the new one counts. So all tokens of the old queue were taken
 * before any token of the new one is.
 *
 * <p>The file is above 300 lines because all changes keep these two rules together.
 */
class TokenSteps {

  private static final Logger log = LoggerFactory.getLogger(TokenSteps.class);

  final LockId lock;
  final TokenBroker broker;
  final TokenEpochs epochs;

  /** Creates steps with that clock for epochs. */
  TokenSteps(LockId lock, TokenBroker broker, LongSupplier minutes) {
    this.lock = lock;
    this.broker = broker;
    epochs = new TokenEpochs(lock, minutes);
  }

  /** Finds out which message is which token. */
  TokenSorting sort(TokenRecord record, Collection<Message> messages) {
    return TokenSorting.byContent(record, messages);
  }

  /** The newest version of the record; a blank one if the semaphore was never created. */
  TokenRecord record() {
    return broker.record();
  }

  /**
   * Creates the semaphore if it does not exist. If it does, leaves it unchanged and completes what
   * was begun.
   */
  TokenRecord create(int wanted, TokenQueueType type, boolean adopt) {
    TokenRecord record = broker.record();
    if (adopt && record.slots() > 0) {
      return exists(record) ? settle(record) : move(record, record.slots(), record.type());
    }
    if (!exists(record)) {
      long unused = epochs.next(record);
      broker.tryOut(type);
      // After the trial, so that attempts that fail do not fill the index. Before the queue, so
      // that a sweep finds whatever comes into being.
      broker.enlist();
      return moveAfterTrial(record, wanted, type);
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

  /** Creates a new queue with all of its tokens, which then replaces the old one. */
  TokenRecord move(TokenRecord from, int wanted, TokenQueueType type) {
    long unused = epochs.next(from);
    broker.tryOut(type);
    return moveAfterTrial(from, wanted, type);
  }

  /** As {@link #move}, once the broker's queues were tried out. */
  TokenRecord moveAfterTrial(TokenRecord from, int wanted, TokenQueueType type) {
    long epoch = epochs.next(from);
    TokenRecord begun = from.reserved() == 0 ? from.begun(epochs.now()) : from;
    int next = begun.reserved() + 1;
    while (broker.idle(next).isPresent()) {
      // The record was lost, or another client created this queue. It must not be filled.
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
   * Removes the semaphore, first for clients that read the record, then for those that do not. The
   * record is deleted too if the clock has passed all that it names: a later semaphore of that name
   * begins above that.
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

  /** Records that no queue is left. */
  TokenRecord deleted(TokenRecord record) {
    return record.generation() == record.reserved() ? record : write(record.deleted());
  }

  /** The present number of slots. */
  int slots() {
    return broker.record().slots();
  }

  /** Sets the number of slots, and does what is possible at once. */
  TokenRecord resize(int wanted) {
    TokenRecord record = existing();
    if (record.resized(wanted).missing() > 0) {
      long unused = epochs.next(record);
    }
    record = record.slots() == wanted ? record : write(record.resized(wanted));
    return settle(withoutSurplus(record));
  }

  /** Removes surplus tokens if they can be detected: more tokens are idle than can exist. */
  private TokenRecord withoutSurplus(TokenRecord from) {
    int idle = broker.idle(from.generation()).orElse(0);
    if (idle <= from.members().size()) {
      return from;
    }
    try (TokenBroker.Unacked unacked = broker.unacked(from)) {
      return withdraw(from, unacked, unacked.take(Integer.MAX_VALUE));
    }
  }

  /** The number of idle tokens, all of which are taken for a moment. */
  int takeAndCountIdle() {
    try (TokenBroker.Unacked unacked = broker.unacked(existing())) {
      return unacked.take(Integer.MAX_VALUE).size();
    }
  }

  /** The record of an existing semaphore. */
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
   * Creates the queue anew with all of its tokens, if it is gone.
   *
   * @return what was wrong; empty if the queue exists, or the semaphore is not wanted
   */
  Optional<TokenAudit> restore() {
    TokenRecord record = broker.record();
    if (record.slots() == 0 || exists(record)) {
      return Optional.empty();
    }
    move(record, record.slots(), record.type());
    return Optional.of(TokenSorting.repaired(audit(record, List.of())));
  }

  /** Creates and removes tokens as the record says, as far as that needs no wait for holders. */
  TokenRecord settle(TokenRecord from) {
    TokenRecord record = from;
    if (record.pending() > 0 || record.unsettled() > 0) {
      try (TokenBroker.Unacked unacked = broker.unacked(record)) {
        int most = record.unsettled() > 0 ? Integer.MAX_VALUE : record.pending();
        record = withdraw(record, unacked, unacked.take(most));
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
    // All tokens of this queue name the same major version.
    broker.publish(record.generation(), record.adding().only(free).contents(record.brokerMajor()));
    return write(record.present(free));
  }

  /**
   * Records which of the received tokens exist, and removes those that are too many. Messages that
   * should not exist are removed if they come again.
   */
  TokenRecord withdraw(TokenRecord from, TokenBroker.Unacked unacked, Collection<Message> taken) {
    TokenSorting sorted = sort(from, taken);
    return sorted.surplus().isEmpty()
        ? withdraw(from, unacked, sorted)
        : withdraw(from, unacked, certain(from, sort(from, unacked.again()), taken));
  }

  /**
   * What is certainly surplus of messages that came again on another channel. The broker may have
   * sent one twice, and whoever removes the second one removes the token. If a classic queue does
   * so while they come again, it tells. A quorum queue does not, so of each token no more messages
   * count than were taken before.
   */
  private static TokenSorting certain(
      TokenRecord record, TokenSorting again, Collection<Message> taken) {
    return record.type() == TokenQueueType.CLASSIC ? again : again.withSurplusOf(record, taken);
  }

  private TokenRecord withdraw(TokenRecord from, TokenBroker.Unacked unacked, TokenSorting sorted) {
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
      unacked.remove(sorted.surplus());
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
    unacked.remove(victims.stream().map(sorted.members()::get).toList());
    return write(record.withdrawn(victims));
  }

  /**
   * Repairs what is wrong, with all tokens that could be received.
   *
   * @return what was wrong; it is not repaired if surplus messages did not come again
   */
  TokenAudit repair(TokenRecord from, TokenBroker.Unacked unacked, Collection<Message> taken) {
    TokenSorting sorted = sort(from, taken);
    TokenAudit found = sorted.audit(from);
    boolean counted =
        from.type() == TokenQueueType.CLASSIC || from.brokerMajor() == broker.brokerMajor();
    if (found.outstanding() > 0 || !counted) {
      replace(from, unacked, taken, found.outstandingSlots());
      return TokenSorting.repaired(found);
    }
    TokenSorting again = found.surplus() > 0 ? sort(from, unacked.again()) : sorted;
    TokenSorting here = certain(from, again, taken);
    unacked.remove(here.surplus());
    TokenRecord record = withdraw(from, unacked, here.withoutSurplus());
    boolean missing = record.missing() > 0;
    grow(record);
    if (here.surplus().size() < Math.max(found.surplus(), again.surplus().size())) {
      log.info(
          "{} messages of {} seemed too many, and {} of them certainly were and are removed; repair it again",
          found.surplus(),
          lock,
          here.surplus().size());
      return found;
    }
    return found.surplus() > 0 || missing || !record.equals(from)
        ? TokenSorting.repaired(found)
        : found;
  }

  /**
   * Records that the broker has another major version now. It does not harm tokens of a classic
   * queue.
   */
  TokenRecord upgrade() {
    TokenRecord record = existing();
    return record.type() == TokenQueueType.QUORUM || record.brokerMajor() == broker.brokerMajor()
        ? record
        : write(record.upgraded(broker.brokerMajor()));
  }

  /**
   * Moves the tokens to a queue as the broker's version requires, if all tokens that may exist are
   * received.
   *
   * @return what prevents the move
   */
  TokenAudit upgrade(TokenRecord from, Collection<Message> taken) {
    TokenAudit found = audit(from, taken);
    if (found.outstanding() == 0 && from.brokerMajor() != broker.brokerMajor()) {
      move(from, from.slots(), from.type());
    }
    return found;
  }

  /**
   * Replaces the queue. The tokens of the given slots did not come, and must not count if they come
   * later.
   */
  void replace(
      TokenRecord from, TokenBroker.Unacked unacked, Collection<Message> taken, Set<Integer> lost) {
    move(from, from.slots(), from.type());
  }

  /** The result of an audit for the given tokens, if no more could be received. */
  TokenAudit audit(TokenRecord record, Collection<Message> taken) {
    return sort(record, taken).audit(record);
  }

  TokenRecord write(TokenRecord next) {
    broker.write(next);
    return next;
  }
}
