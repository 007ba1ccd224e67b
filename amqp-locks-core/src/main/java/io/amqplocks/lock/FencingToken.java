package io.amqplocks.lock;

/**
 * A number that rises with each acquisition of one slot. A resource uses it to refuse a holder that
 * has been superseded without knowing it. Leases of {@link AmqpLock#fenced()} have one.
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
 * <p>Of two tokens of one slot of one lock, the later one has the higher epoch, or the higher
 * {@code n} in the same epoch. Numbers are skipped where a process died half-way. Tokens of
 * different slots or locks cannot be compared.
 *
 * @param slot the slot, from 1
 * @param epoch when the token's counter was created, in minutes since 1970, or a little more
 * @param n how often that counter had been drawn from before
 */
public record FencingToken(int slot, long epoch, long n) {

  private static final int BITS_OF_N = 37;

  /** The highest epoch: 26 bits, good until 2097. */
  public static final long MAX_EPOCH = (1L << (Long.SIZE - 1 - BITS_OF_N)) - 1;

  /**
   * The highest n, 137,438,953,471. A lock acquired 1,000 times a second reaches it after four
   * years.
   */
  public static final long MAX_N = (1L << BITS_OF_N) - 1;

  /**
   * Checks the ranges.
   *
   * @throws LockException.Invalid if one is exceeded
   */
  public FencingToken {
    if (slot < 1 || epoch < 1 || epoch > MAX_EPOCH || n < 0 || n > MAX_N) {
      throw new LockException.Invalid(
          "There is no fencing token of slot %d, epoch %d and number %d".formatted(slot, epoch, n));
    }
  }

  /**
   * Epoch and n as one number, {@code epoch * 2^37 + n}. It orders the tokens of one slot. It is
   * above 0, so that a resource may begin with 0. It fits into an SQL {@code BIGINT}.
   */
  public long number() {
    return epoch << BITS_OF_N | n;
  }

  /** The epoch of a {@link #number()}. */
  public static long epochOf(long number) {
    return number >> BITS_OF_N;
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
