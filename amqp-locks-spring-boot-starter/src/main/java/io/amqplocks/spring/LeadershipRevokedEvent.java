package io.amqplocks.spring;

import io.amqplocks.leader.Leadership;
import io.amqplocks.leader.Revocation;

/**
 * This application does not lead any more, by an election or a sole consumer that is a bean, or by
 * {@link LeaderOnly}. If leadership was given up, the next leader begins after the listeners of
 * this event have returned, or after the grace period of the election.
 *
 * @param leadership the term that ended
 * @param revocation why
 */
public record LeadershipRevokedEvent(Leadership leadership, Revocation revocation) {}
