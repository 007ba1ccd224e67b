package io.amqplocks.internal.tokens;

import io.amqplocks.internal.lease.LeaseFactory;
import io.amqplocks.internal.session.Sessions;
import io.amqplocks.internal.waiting.Claim;
import io.amqplocks.internal.waiting.QueuedLock.Kind;
import io.amqplocks.internal.waiting.QueuedLock.Variant;

/**
 * The kinds of lock whose slots are tokens.
 *
 * @param locator locates the token queues
 * @param missing the reaction to a lock that does not exist
 * @param quorumSessions the connections for quorum queues
 * @param leases where leases are registered
 * @param alwaysFenced whether each lease has a fencing token, requested or not
 */
public record TokenKind(
    TokenQueueLocator locator,
    TokenClaim.Missing missing,
    Sessions quorumSessions,
    LeaseFactory leases,
    boolean alwaysFenced)
    implements Kind {

  @Override
  public Claim claim(Variant variant) {
    boolean fenced = alwaysFenced || variant.fenced();
    return new TokenClaim(locator, missing, quorumSessions, leases, fenced, variant.priority());
  }

  @Override
  public boolean hasPriorities() {
    return true;
  }
}
