package io.amqplocks.admin;

import java.util.Set;

/**
 * The result of an audit of a token semaphore.
 *
 * @param slots the configured number of slots
 * @param seen how many messages the auditor received
 * @param surplus how many messages it received that should not exist, because others published them
 *     or there were two of one token. A repair also counts those that the broker may have sent
 *     twice; {@code repaired} is false then
 * @param outstanding how many tokens did not arrive: they are held for all that time, or lost
 * @param outstandingSlots the slots of those tokens; empty in the plain protocol, whose tokens have
 *     no numbers
 * @param repaired whether all of the surplus was removed and the outstanding tokens were replaced;
 *     if not, a part of it may have been
 */
public record TokenAudit(
    int slots,
    int seen,
    int surplus,
    int outstanding,
    Set<Integer> outstandingSlots,
    boolean repaired) {

  /** Copies the set. */
  public TokenAudit {
    outstandingSlots = Set.copyOf(outstandingSlots);
  }

  /**
   * Whether each token was seen once, and nothing else, and there is one for each slot. If none is
   * outstanding and fewer were seen than there are slots, a change has not made all its tokens:
   * {@code resize} with the same number makes them.
   */
  public boolean isClean() {
    return surplus == 0 && outstanding == 0 && seen >= slots;
  }
}
