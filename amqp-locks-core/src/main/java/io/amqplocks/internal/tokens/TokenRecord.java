package io.amqplocks.internal.tokens;

import io.amqplocks.lock.TokenQueueType;
import io.amqplocks.lock.TokenSemaphoreAdmin;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * What is known of a token semaphore, as its administrators write it down. Each change is a new version,
 * made by one of the functions below before or after what it speaks of is done at the broker, so that
 * whoever finds it after a crash knows what may be and what must be.
 *
 * @param version the highest one counts
 * @param generation which token queue is in use; while there are no slots, none of a lower generation is
 *     left
 * @param reserved the highest generation that ever was begun: its name must not be used again
 * @param type the type of the token queue in use
 * @param slots how many holders at once are wanted; 0 if the semaphore does not exist
 * @param epoch the highest epoch that any token ever had
 * @param brokerMajor the first number of the version of the broker that the queue was made on
 * @param tokens which are there, in the queue or in somebody's hands
 * @param adding which may be there, because they were to be published when this was written
 * @param withdrawing which may be there still, because they were to be removed when this was written
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

  /** A thousand changes a second for 30,000 years. */
  private static final long MAX_VERSION = 1_000_000_000_000_000L;

  /** In minutes. */
  private static final long TEN_YEARS = 10L * 365 * 24 * 60;

  /** Of a semaphore that nobody has created yet. */
  public static final TokenRecord BLANK =
      new TokenRecord(
          1, 0, 0, TokenQueueType.CLASSIC, 0, 0, 0, TokenSet.NONE, TokenSet.NONE, TokenSet.NONE);

  /** Reads a message; empty if it is none of ours. */
  public static Optional<TokenRecord> parse(String text) {
    return TokenRecordForm.parse(text);
  }

  /** Whether it says nothing that contradicts itself, as no record of an administrator's does. */
  boolean isConsistent() {
    return slots <= TokenSemaphoreAdmin.MAX_SLOTS
        && generation <= reserved + 1
        && tokens.size() + adding.size() + withdrawing.size() == members().size()
        && tokens.isUpTo(epoch)
        && adding.isUpTo(epoch)
        && withdrawing.isUpTo(epoch);
  }

  /**
   * What in it cannot be, as far as numbers can tell: generations and epochs follow the clock, and fall
   * behind it unless there is more than one change a minute. A number far ahead of all others would be
   * followed by higher ones for ever, until there are none.
   *
   * @param minutes since 1970
   * @return empty if nothing is wrong
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

  /** Whether it names that token: slot, epoch, and the broker that the queue was made on. */
  public boolean has(TokenContent token) {
    return (type == TokenQueueType.CLASSIC || token.brokerMajor() == brokerMajor)
        && (tokens.has(token) || adding.has(token) || withdrawing.has(token));
  }

  /** Whether there is such a semaphore. */
  public boolean exists() {
    return slots > 0;
  }

  /** How many tokens are certainly too many, and to be withdrawn as they come to hand. */
  public int pending() {
    return Math.max(0, tokens.size() - slots);
  }

  /** How many tokens are too many if all are there that may be. */
  public int excess() {
    return Math.max(0, members().size() - slots);
  }

  /** How many tokens may or may not be there. */
  public int unsettled() {
    return adding.size() + withdrawing.size();
  }

  /** All tokens that may be there. */
  public TokenSet members() {
    return tokens.plus(adding).plus(withdrawing);
  }

  /** How many tokens may be made without there ever being more than wanted. */
  public int missing() {
    return Math.max(0, slots - members().size());
  }

  /** The lowest slots that have no token for certain, as many as are missing. */
  public List<Integer> freeSlots() {
    TokenSet members = members();
    return IntStream.iterate(1, slot -> slot + 1)
        .filter(slot -> !members.epochs().containsKey(slot))
        .limit(missing())
        .boxed()
        .toList();
  }

  /** The epoch of tokens made now: above all before, also if the clock or this record is wrong. */
  public long nextEpoch(long minutes) {
    return Math.max(epoch + 1, minutes);
  }

  /**
   * The first queue ever will be of that generation, or of a higher one: not 1, for if this record was
   * lost, all below may have been in use. The version begins with the clock, too: what a replica of a queue
   * of the same name may bring back is of a lower one.
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

  /** A queue of that generation is about to be made, of tokens of that epoch. */
  public TokenRecord reserved(int next, long nextEpoch) {
    return copy(generation, next, type, slots, nextEpoch, brokerMajor, tokens, adding, withdrawing);
  }

  /** The queue reserved last is complete, and the only one; from now on it counts. */
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

  /** The same queue is on a broker of that version now; for classic ones, which count nothing. */
  public TokenRecord upgraded(int major) {
    return copy(generation, reserved, type, slots, epoch, major, tokens, adding, withdrawing);
  }

  /** The semaphore does not exist any more, its queue is about to be deleted. */
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

  /** And now it is. */
  public TokenRecord deleted() {
    return copy(reserved, reserved, type, slots, epoch, brokerMajor, tokens, adding, withdrawing);
  }

  /** The same for the plain protocol, whose only queue has the same name for ever. */
  public TokenRecord restarted() {
    return copy(0, 0, type, slots, epoch, brokerMajor, tokens, adding, withdrawing);
  }

  /** Those slots' tokens are taken for lost. */
  public TokenRecord lost(Collection<Integer> which) {
    return with(tokens.without(which), adding.without(which), withdrawing.without(which));
  }

  /** Another number of slots is wanted. */
  public TokenRecord resized(int wanted) {
    return copy(
        generation, reserved, type, wanted, epoch, brokerMajor, tokens, adding, withdrawing);
  }

  /** Those slots' tokens are about to be published. */
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

  /** Those slots' tokens were seen, or confirmed: they are there. */
  public TokenRecord present(Collection<Integer> which) {
    return with(
        tokens.plus(adding.plus(withdrawing).only(which)),
        adding.without(which),
        withdrawing.without(which));
  }

  /** Those slots' tokens are in the administrator's hand and about to be removed. */
  public TokenRecord withdrawing(Collection<Integer> which) {
    return with(tokens.without(which), adding, withdrawing.plus(tokens.only(which)));
  }

  /** And now they are. */
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
