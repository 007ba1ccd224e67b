package io.amqplocks.lock;

/**
 * A number that rises with each acquisition of one slot, so that a resource can refuse a holder that
 * has been overtaken without knowing it. Drawn by {@link AmqpLock#fenced()}.
 *
 * <p>The resource keeps the highest token that it has seen <em>for each slot</em>, and takes a write
 * only with a token that is not lower:
 *
 * <pre>{@code
 * UPDATE report SET body = ?, token = :token WHERE id = ? AND token <= :token
 * }</pre>
 *
 * One row changed means written; none means that a later holder was here first, and this one must
 * stop. With {@code token < :token} each lease gets one write at most. The check must be one atomic
 * step with the write, and be made by the resource: a check beforehand protects nothing. A write of an
 * overtaken holder is still taken if none of a later one came before it; where that could do harm, the
 * new holder writes its token first of all.
 *
 * <p>Of two tokens of one slot of one lock the later one is that of the higher epoch, and in one epoch
 * that of the higher {@code n}. Numbers are left out where a process died half-way. Tokens of different
 * slots or locks say nothing about each other.
 *
 * @param slot the slot, from 1
 * @param epoch when the counter was made that it was drawn from: minutes since 1970, or a little more
 * @param n how often that counter had been drawn from before
 */
public record FencingToken(int slot, long epoch, long n) {

  private static final int BITS_OF_N = 37;

  /** The highest epoch: 26 bits, good until 2097. */
  public static final long MAX_EPOCH = (1L << (Long.SIZE - 1 - BITS_OF_N)) - 1;

  /** The highest n, 137,438,953,471: a lock acquired 1,000 times a second has it after four years. */
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
   * Epoch and n as one number, {@code epoch * 2^37 + n}, which orders the tokens of one slot; above 0,
   * so that a resource may begin with 0. Fits a SQL {@code BIGINT}.
   */
  public long number() {
    return epoch << BITS_OF_N | n;
  }

  /** The epoch that a {@link #number()} is of. */
  public static long epochOf(long number) {
    return number >> BITS_OF_N;
  }

  /**
   * Whether this one was drawn after the other.
   *
   * @throws LockException.Invalid if they are of different slots
   */
  public boolean isAfter(FencingToken other) {
    if (slot != other.slot) {
      throw new LockException.Invalid(
          "Fencing tokens of different slots have no order: %s, %s".formatted(this, other));
    }
    return number() > other.number();
  }
}
