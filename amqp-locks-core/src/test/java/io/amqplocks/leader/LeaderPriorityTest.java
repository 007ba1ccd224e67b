package io.amqplocks.leader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.LockId;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.Tokens;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Who leads next by a fenced mutex, where some processes are preferred. */
@BrokerTest(everyLine = true)
class LeaderPriorityTest {

  private static final Duration LONG = Duration.ofSeconds(60);

  @RegisterExtension private final Fixture fixture = new Fixture();
  private final List<LeaderElection> elections = new ArrayList<>();
  private final List<String> events = new CopyOnWriteArrayList<>();

  @AfterEach
  void close() {
    elections.forEach(LeaderElection::close);
  }

  private int consumers(String name) throws Exception {
    return Tokens.consumers(fixture.broker(), fixture.names(), LockId.fencedMutex(name));
  }

  private LeaderElection started(AmqpLocks locks, String lock, String name, int priority) {
    LeaderElection election =
        LeaderElection.on(locks.fencedMutex(lock).withPriority(priority))
            .listener(
                new LeaderListener() {
                  @Override
                  public void granted(Leadership leadership) {
                    events.add("granted " + name);
                  }

                  @Override
                  public void revoked(Leadership leadership, Revocation revocation) {
                    events.add("revoked " + name + " " + revocation.cause());
                  }
                })
            .build();
    elections.add(election);
    election.start();
    return election;
  }

  private static Leadership leads(LeaderElection election) throws Exception {
    return election.awaitLeadership(LONG).orElseThrow();
  }

  @Test
  void theOneOfTheHighestPriorityIsNext() throws Exception {
    LeaderElection leading = started(fixture.open(fixture.seldomVerifying()), "m", "first", 0);
    leads(leading);
    List<LeaderElection> waiting = List.of(waiting(0), waiting(5), waiting(10));
    leading.close();
    for (int grants = 1; grants <= waiting.size(); grants++) {
      // A close has the revocation told before it returns, but a grant may still be told of.
      int told = 2 * grants + 1;
      await().atMost(LONG).until(() -> events.size() == told);
      waiting.stream().filter(LeaderElection::isLeader).forEach(LeaderElection::close);
    }
    assertThat(events)
        .containsExactly(
            "granted first",
            "revoked first CLOSED",
            "granted waiter 10",
            "revoked waiter 10 CLOSED",
            "granted waiter 5",
            "revoked waiter 5 CLOSED",
            "granted waiter 0",
            "revoked waiter 0 CLOSED");
  }

  /**
   * In a process of its own, that waits at the broker when this returns. A doubt of whoever leads
   * would change the order, so all of them verify seldom.
   */
  private LeaderElection waiting(int priority) throws Exception {
    int before = consumers("m");
    AmqpLocks locks = fixture.open(fixture.seldomVerifying());
    LeaderElection election = started(locks, "m", "waiter " + priority, priority);
    await().until(() -> locks.status().waiting() == 1 && consumers("m") > before);
    return election;
  }

  /**
   * The leader gives its token back for a moment whenever it verifies. If a busy broker takes more
   * than 0.1 s to return it, the term ends without the newcomer's doing. So there are several
   * rounds, and one of them must do. Would the newcomer be sent the token, then none did.
   */
  @Test
  void aNewcomerOfAHigherPriorityTakesLeadershipFromNobody() throws Exception {
    List<Optional<Revocation>> ends = new ArrayList<>();
    do {
      ends.add(endBesideANewcomer("m" + ends.size()));
    } while (ends.size() < 10 && ends.get(ends.size() - 1).isPresent());
    assertThat(ends).endsWith(Optional.empty());
  }

  /** How the leader's term ended, if it did, until it was verified while the newcomer waited. */
  private Optional<Revocation> endBesideANewcomer(String name) throws Exception {
    AmqpLocks locks = fixture.open();
    try (LeaderElection leading = started(locks, name, "first", 0)) {
      Leadership term = leads(leading);
      long granted = System.nanoTime();
      // From its first verification on it holds by a consumer, which is counted as well.
      await().until(() -> !term.isCurrent() || isVerifiedSince(granted, locks));
      try (LeaderElection newcomer = started(fixture.open(), name, "newcomer", 10)) {
        await().until(() -> !term.isCurrent() || consumers(name) == 2);
        long waits = System.nanoTime();
        await().until(() -> !term.isCurrent() || isVerifiedSince(waits, locks));
        assertThat(newcomer.isLeader() && term.isCurrent()).isFalse();
        return term.revocation();
      }
    }
  }

  /** Whether the broker has confirmed the lease by a request that was sent since then. */
  private static boolean isVerifiedSince(long then, AmqpLocks locks) {
    long since = System.nanoTime() - then;
    return locks.leases().stream().anyMatch(lease -> lease.unconfirmed().toNanos() < since);
  }
}
