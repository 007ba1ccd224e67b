package io.amqplocks.internal.tokens;

import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.admin.TokenSemaphoreAdmin;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * The state of a token semaphore, as its administrators record it. Each change is a new version,
 * made by one of the functions below. It is written before or after the corresponding step at the
 * broker. So an administrator that finds the record after a crash knows which tokens may exist and
 * which must. The file is above 300 lines because all changes of a record are in one place.
 *
 * @param version the highest version counts
 * @param generation the generation of the token queue in use; while there are no slots, no queue of
 *     a lower generation is left
 * @param reserved the highest generation that was ever begun; its name must not be used again
 * @param type the type of the token queue in use
 * @param slots the wanted number of concurrent holders; 0 if the semaphore does not exist
 * @param epoch the highest epoch that any token ever had
 * @param brokerMajor the major version of the broker on which the queue was made
 * @param tokens the tokens that exist, in the queue or held
 * @param adding the tokens that may exist, because they were to be published when this version was
 *     written
 * @param withdrawing the tokens that may still exist, because they were to be removed when this
 *     version was written
 */
public record TokenRecord(
    long version,
    int generation,
    int reserved,
    TokenQueueType type,
    int slots,
    long epoch,
    int brokerMajor,
    TokenSet tokens,
    TokenSet adding,
    TokenSet withdrawing) {

  /** Enough for a thousand changes a second in 30,000 years. */
  private static final long MAX_VERSION = 1_000_000_000_000_000L;

  /** In minutes. */
  private static final long TEN_YEARS = 10L * 365 * 24 * 60;

  /** The record of a semaphore that was never created. */
  public static final TokenRecord BLANK =
      new TokenRecord(
          1, 0, 0, TokenQueueType.CLASSIC, 0, 0, 0, TokenSet.NONE, TokenSet.NONE, TokenSet.NONE);

  /** Parses a message; empty if it is not a record of ours. */
  public static Optional<TokenRecord> parse(String text) {
    return TokenRecordCodec.parse(text);
  }

  /** Whether the record is free of contradictions, as all records of administrators are. */
  boolean isConsistent() {
    return slots <= TokenSemaphoreAdmin.MAX_SLOTS
        && generation <= reserved + 1
        && tokens.size() + adding.size() + withdrawing.size() == members().size()
        && tokens.isUpTo(epoch)
        && adding.isUpTo(epoch)
        && withdrawing.isUpTo(epoch);
  }

  /**
   * Why the record is not believed, as far as its numbers can tell. Generations and epochs follow
   * the clock, and fall behind it unless there is more than one change a minute. A number far ahead
   * of all others would be followed by higher ones forever, until there are none.
   *
   * @param minutes the minutes since 1970
   * @return the reason; empty if the record is believed
   */
  public Optional<String> doubt(long minutes) {
    long most = minutes + TEN_YEARS;
    if (version > MAX_VERSION) {
      return Optional.of("version %d is above %d".formatted(version, MAX_VERSION));
    }
    if (reserved > most || epoch > most) {
      return Optional.of(
          "generation %d or epoch %d is more than ten years ahead of this machine's clock, minute %d"
              .formatted(reserved, epoch, minutes));
    }
    return Optional.empty();
  }

  /**
   * Whether the record names the token: slot, epoch, and the broker on which the queue was made.
   */
  public boolean has(TokenContent token) {
    return (type == TokenQueueType.CLASSIC || token.brokerMajor() == brokerMajor)
        && (tokens.has(token) || adding.has(token) || withdrawing.has(token));
  }

  /** Whether the semaphore exists. */
  public boolean exists() {
    return slots > 0;
  }

  /** Whether another queue was begun, and is not in use yet. The queue in use may be gone. */
  public boolean isMoving() {
    return reserved > generation;
  }

  /** How many tokens are certainly surplus, and to be withdrawn as they are received. */
  public int pending() {
    return Math.max(0, tokens.size() - slots);
  }

  /** How many tokens are surplus if all tokens exist that may exist. */
  public int excess() {
    return Math.max(0, members().size() - slots);
  }

  /** How many tokens may or may not exist. */
  public int unsettled() {
    return adding.size() + withdrawing.size();
  }

  /** All tokens that may exist. */
  public TokenSet members() {
    return tokens.plus(adding).plus(withdrawing);
  }

  /** How many tokens can be made without ever exceeding the wanted number. */
  public int missing() {
    return Math.max(0, slots - members().size());
  }

  /** The lowest slots that certainly have no token, as many as are missing. */
  public List<Integer> freeSlots() {
    TokenSet members = members();
    return IntStream.iterate(1, slot -> slot + 1)
        .filter(slot -> !members.epochs().containsKey(slot))
        .limit(missing())
        .boxed()
        .toList();
  }

  /**
   * The epoch of tokens that are made now. It is above all before, even if the clock or this record
   * is wrong. The fencing tokens of earlier epochs are below it too: see {@link
   * io.amqplocks.internal.broker.EpochClock#isBelowLaterOnes}.
   */
  public long nextEpoch(long minutes) {
    return Math.max(epoch + 1, minutes);
  }

  /**
   * Begins with a generation such that the first queue ever is of the given one, or of a higher
   * one. It is not 1, because the lower ones may have been in use if an earlier record was lost.
   * The version begins with the clock, too: a record that a replica of a queue of the same name may
   * bring back has a lower version.
   */
  public TokenRecord begun(int first) {
    return new TokenRecord(
        Math.max(version + 1, 1000L * first),
        first,
        first - 1,
        type,
        slots,
        epoch,
        brokerMajor,
        tokens,
        adding,
        withdrawing);
  }

  /** A queue of the given generation is about to be made, with tokens of the given epoch. */
  public TokenRecord reserved(int next, long nextEpoch) {
    return copy(generation, next, type, slots, nextEpoch, brokerMajor, tokens, adding, withdrawing);
  }

  /** The queue reserved last is complete, and the only one. It is in use from now on. */
  public TokenRecord moved(TokenQueueType newType, int wanted, int major) {
    return copy(
        reserved,
        reserved,
        newType,
        wanted,
        epoch,
        major,
        TokenSet.of(IntStream.rangeClosed(1, wanted).boxed().toList(), epoch),
        TokenSet.NONE,
        TokenSet.NONE);
  }

  /**
   * The queue is now on a broker of the given major version. For classic queues, which count
   * nothing.
   */
  public TokenRecord upgraded(int major) {
    return copy(generation, reserved, type, slots, epoch, major, tokens, adding, withdrawing);
  }

  /** The semaphore does not exist any more, and its queue is about to be deleted. */
  public TokenRecord destroyed() {
    return copy(
        generation,
        reserved,
        type,
        0,
        epoch,
        brokerMajor,
        TokenSet.NONE,
        TokenSet.NONE,
        TokenSet.NONE);
  }

  /** No token queue of the semaphore is left. */
  public TokenRecord deleted() {
    return copy(reserved, reserved, type, slots, epoch, brokerMajor, tokens, adding, withdrawing);
  }

  /**
   * No token queue of the semaphore is left, in the plain protocol. Its only queue has the same
   * name forever, so the generations start again.
   */
  public TokenRecord restarted() {
    return copy(0, 0, type, slots, epoch, brokerMajor, tokens, adding, withdrawing);
  }

  /** The tokens of the given slots are regarded as lost. */
  public TokenRecord lost(Collection<Integer> which) {
    return with(tokens.without(which), adding.without(which), withdrawing.without(which));
  }

  /** Another number of slots is wanted. */
  public TokenRecord resized(int wanted) {
    return copy(
        generation, reserved, type, wanted, epoch, brokerMajor, tokens, adding, withdrawing);
  }

  /** The tokens of the given slots are about to be published. */
  public TokenRecord adding(Collection<Integer> which, long newEpoch) {
    return copy(
        generation,
        reserved,
        type,
        slots,
        newEpoch,
        brokerMajor,
        tokens,
        adding.plus(TokenSet.of(which, newEpoch)),
        withdrawing);
  }

  /** The tokens of the given slots were seen or confirmed, so they exist. */
  public TokenRecord present(Collection<Integer> which) {
    return with(
        tokens.plus(adding.plus(withdrawing).only(which)),
        adding.without(which),
        withdrawing.without(which));
  }

  /** The administrator has received the tokens of the given slots and is about to remove them. */
  public TokenRecord withdrawing(Collection<Integer> which) {
    return with(tokens.without(which), adding, withdrawing.plus(tokens.only(which)));
  }

  /** The tokens of the given slots were removed. */
  public TokenRecord withdrawn(Collection<Integer> which) {
    return with(tokens, adding, withdrawing.without(which));
  }

  private TokenRecord with(TokenSet there, TokenSet perhaps, TokenSet perhapsNot) {
    return copy(generation, reserved, type, slots, epoch, brokerMajor, there, perhaps, perhapsNot);
  }

  private TokenRecord copy(
      int generation,
      int reserved,
      TokenQueueType type,
      int slots,
      long epoch,
      int brokerMajor,
      TokenSet tokens,
      TokenSet adding,
      TokenSet withdrawing) {
    return new TokenRecord(
        version + 1,
        generation,
        reserved,
        type,
        slots,
        epoch,
        brokerMajor,
        tokens,
        adding,
        withdrawing);
  }

  @Override
  public String toString() {
    return "version %d generation %d of %d %s slots %d epoch %d on RabbitMQ %d"
            .formatted(
                version,
                generation,
                reserved,
                type == TokenQueueType.QUORUM ? "quorum" : "classic",
                slots,
                epoch,
                brokerMajor)
        + " tokens %s adding %s withdrawing %s".formatted(tokens, adding, withdrawing);
  }
}
