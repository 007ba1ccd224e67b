package io.amqplocks.lock;

import java.util.Set;

/**
 * What an audit of a token semaphore found.
 *
 * @param slots how many holders at once are wanted
 * @param seen how many tokens went through the auditor's hands
 * @param surplus how many messages it saw that should not be there: published by others, or twice
 * @param outstanding how many tokens it waited for in vain: held by somebody for all that time, or lost
 * @param outstandingSlots which ones those are; empty in the plain protocol, whose tokens have no numbers
 * @param repaired whether the surplus was removed and the outstanding tokens replaced
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

  /** Whether each token was seen, once, and nothing else. */
  public boolean isClean() {
    return surplus == 0 && outstanding == 0;
  }
}
