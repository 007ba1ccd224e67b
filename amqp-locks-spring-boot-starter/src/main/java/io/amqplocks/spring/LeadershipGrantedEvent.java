package io.amqplocks.spring;

import io.amqplocks.leader.Leadership;

/**
 * This application leads from now on, by an election or a sole consumer that is a bean, or by
 * {@link LeaderOnly}. It is published on the election's own thread. A listener that blocks delays
 * the {@link LeadershipRevokedEvent}.
 *
 * @param leadership the term; {@link Leadership#lock()} is the lock of the election
 */
public record LeadershipGrantedEvent(Leadership leadership) {}
