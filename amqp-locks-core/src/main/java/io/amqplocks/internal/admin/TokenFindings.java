package io.amqplocks.internal.admin;

import io.amqplocks.internal.tokens.TokenRecord;
import io.amqplocks.lock.TokenAudit;
import java.util.Set;
import java.util.TreeSet;

/** What tokens in hand say of their semaphore. */
final class TokenFindings {

  private TokenFindings() {}

  /** Of so many in hand, sorted, being all that could be had. */
  static TokenAudit audit(TokenRecord record, int seen, TokenSorting sorted) {
    Set<Integer> outstanding = new TreeSet<>(record.members().epochs().keySet());
    outstanding.removeAll(sorted.members().keySet());
    return new TokenAudit(
        record.slots(), seen, sorted.surplus().size(), outstanding.size(), outstanding, false);
  }

  /** The same after it was put right. */
  static TokenAudit repaired(TokenAudit found) {
    return new TokenAudit(
        found.slots(),
        found.seen(),
        found.surplus(),
        found.outstanding(),
        found.outstandingSlots(),
        true);
  }
}
