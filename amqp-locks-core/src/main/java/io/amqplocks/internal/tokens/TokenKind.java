package io.amqplocks.internal.tokens;

import io.amqplocks.internal.lease.Taking;
import io.amqplocks.internal.session.Sessions;
import io.amqplocks.internal.waiting.Claim;
import io.amqplocks.internal.waiting.QueuedLock.Kind;
import io.amqplocks.internal.waiting.QueuedLock.Variant;

/**
 * Locks whose slots are tokens.
 *
 * @param directory knows where the tokens are
 * @param missing what to do about a lock that does not exist
 * @param quorumSessions the connections for quorum queues
 * @param leases where leases are entered
 * @param alwaysFenced whether each lease has a fencing token, wanted or not
 */
public record TokenKind(
    TokenDirectory directory,
    TokenClaim.Missing missing,
    Sessions quorumSessions,
    Taking leases,
    boolean alwaysFenced)
    implements Kind {

  @Override
  public Claim claim(Variant variant) {
    boolean fenced = alwaysFenced || variant.fenced();
    return new TokenClaim(directory, missing, quorumSessions, leases, fenced, variant.priority());
  }

  @Override
  public boolean hasPriorities() {
    return true;
  }
}
