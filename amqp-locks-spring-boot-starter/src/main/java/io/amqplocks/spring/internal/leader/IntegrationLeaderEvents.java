package io.amqplocks.spring.internal.leader;

import io.amqplocks.leader.LeaderElection;
import io.amqplocks.leader.Leadership;
import io.amqplocks.spring.LeadershipGrantedEvent;
import io.amqplocks.spring.LeadershipRevokedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.integration.leader.Context;
import org.springframework.integration.leader.event.LeaderEventPublisher;

/**
 * Publishes the leader events of Spring Integration beside the library's own. So endpoints with a
 * role are started where this application leads by the lock of that name, and stopped at the end of
 * the term: {@code SmartLifecycleRoleController} does that.
 *
 * <p>Concurrency: has no state. The library publishes the events of an election one after the
 * other.
 */
public final class IntegrationLeaderEvents {

  private final LeaderElections elections;
  private final LeaderEventPublisher publisher;

  /** Publishes the events of those elections. */
  public IntegrationLeaderEvents(LeaderElections elections, LeaderEventPublisher publisher) {
    this.elections = elections;
    this.publisher = publisher;
  }

  /** If the term is over by now, endpoints must not be started any more. */
  @EventListener
  void granted(LeadershipGrantedEvent event) {
    Term term = new Term(elections, event.leadership());
    if (term.isLeader()) {
      publisher.publishOnGranted(this, term, term.getRole());
    }
  }

  @EventListener
  void revoked(LeadershipRevokedEvent event) {
    Term term = new Term(elections, event.leadership());
    publisher.publishOnRevoked(this, term, term.getRole());
  }

  /** One term, whose role is the name of the lock. */
  private record Term(LeaderElections elections, Leadership leadership) implements Context {

    @Override
    public boolean isLeader() {
      return leadership.isCurrent();
    }

    /** Gives this term up; does nothing if it is over. */
    @Override
    public void yield() {
      elections.known().stream()
          .filter(election -> election.leadership().filter(leadership::equals).isPresent())
          .forEach(LeaderElection::yieldLeadership);
    }

    @Override
    public String getRole() {
      return leadership.lock().name().value();
    }
  }
}
