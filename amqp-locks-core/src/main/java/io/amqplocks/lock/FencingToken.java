package io.amqplocks.lock;

/**
 * A number that rises with each acquisition of one slot. A resource uses it to refuse a holder that
 * has been superseded without knowing it. {@link Lease#fencingToken()} says which leases have one.
 *
 * <p>The resource stores the highest token that it has seen <em>for each slot</em>. It accepts a
 * write only with a token that is not lower:
 *
 * <pre>{@code
 * UPDATE report SET body = ?, token = :token WHERE id = ? AND token <= :token
 * }</pre>
 *
 * <p>If one row changed, the write was accepted. If none did, a later holder has written already,
 * and this one must stop. With {@code token < :token} each lease gets at most one write. The check
 * must be one atomic step with the write, and the resource must make it: a check beforehand
 * protects nothing. A superseded holder's write is still accepted if no later holder has written
 * before it. Where that could do harm, a new holder writes its token first of all.
 *
 * <p>Tokens of one slot of one lock are ordered by their {@link #number() numbers}: by epoch, then
 * by {@code n}, then by the number of hand-overs. Numbers are skipped where a process died
 * half-way. Tokens of different slots or locks cannot be compared.
 *
 * @param slot the slot, from 1
 * @param epoch when the token's counter was created, in minutes since 1970, or a little more
 * @param n how often that counter had been drawn from before, at the broker
 * @param handOvers how often the process that drew n had handed the slot from one of its threads to
 *     the next one before this lease; 0 for the lease that was acquired at the broker
 */
public record FencingToken(int slot, long epoch, long n, int handOvers) {

  private static final int BITS_OF_HAND_OVERS = 14;
  private static final int BITS_BELOW_EPOCH = 37;

  /**
   * The highest n, 137,438,953,471. A slot that is acquired 1,000 times a second at the broker
   * reaches it after four years. There are no tokens then until its counter is renewed.
   */
  public static final long MAX_N = (1L << 37) - 1;

  /** The highest number of hand-overs, 16,383. */
  public static final int MAX_HAND_OVERS = (1 << BITS_OF_HAND_OVERS) - 1;

  /** The highest epoch, in 2097. The room above it is for the highest n. */
  public static final long MAX_EPOCH =
      (1L << (Long.SIZE - 1 - BITS_BELOW_EPOCH))
          - 1
          - (MAX_N >> (BITS_BELOW_EPOCH - BITS_OF_HAND_OVERS));

  /**
   * Checks the ranges.
   *
   * @throws LockException.Invalid if one is exceeded
   */
  public FencingToken {
    if (slot < 1
        || epoch < 1
        || epoch > MAX_EPOCH
        || n < 0
        || n > MAX_N
        || handOvers < 0
        || handOvers > MAX_HAND_OVERS) {
      throw new LockException.Invalid(
          "There is no fencing token of slot %d, epoch %d, number %d and %d hand-overs"
              .formatted(slot, epoch, n, handOvers));
    }
  }

  /** The token of a lease that was acquired at the broker. */
  public FencingToken(int slot, long epoch, long n) {
    this(slot, epoch, n, 0);
  }

  /**
   * The token of a lease to which the slot was handed over within the process.
   *
   * @param times how often it was handed over since it was acquired at the broker
   * @throws LockException.Invalid if that is more than {@link #MAX_HAND_OVERS}
   */
  public FencingToken afterHandOvers(int times) {
    return times == handOvers ? this : new FencingToken(slot, epoch, n, times);
  }

  /**
   * The token as one number, {@code epoch * 2^37 + n * 2^14 + handOvers}. It orders the tokens of
   * one slot. It is above 0, so that a resource may begin with 0. It fits into an SQL {@code
   * BIGINT}.
   *
   * <p>After 8,388,608 draws, the numbers of a counter are those of later minutes. A token with
   * such a number is given only if that minute passed more than ten minutes ago. So it is below the
   * tokens of all later counters, whose epochs follow the clock. A slot that is acquired 10,000
   * times a second at the broker, or less often, always gets one.
   */
  public long number() {
    return (epoch << BITS_BELOW_EPOCH) + (n << BITS_OF_HAND_OVERS) + handOvers;
  }

  /**
   * The minute that the number is in. A counter whose epoch is above it gives higher numbers only.
   */
  public static long epochOf(long number) {
    return number >> BITS_BELOW_EPOCH;
  }

  /**
   * Whether this token was drawn after the other one.
   *
   * @throws LockException.Invalid if they belong to different slots
   */
  public boolean isAfter(FencingToken other) {
    if (slot != other.slot) {
      throw new LockException.Invalid(
          "Fencing tokens of different slots have no order: %s, %s".formatted(this, other));
    }
    return number() > other.number();
  }
}
