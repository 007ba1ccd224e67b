package io.amqplocks.tokens;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.Tokens;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A fenced lease keeps its very token. Other leases of the same semaphore, of this client or of
 * another one, are verified at the same time, and each gives its token back for that.
 */
@BrokerTest(everyLine = true)
class FencedBesideOthersTest {

  private static final Duration LONG = Duration.ofSeconds(30);
  private static final int ROUNDS = 30;
  private static final int SLOTS = 4;

  @RegisterExtension private final Fixture fixture = new Fixture();
  private AmqpLocks locks;
  private AmqpLocks others;

  @BeforeEach
  void open() {
    locks = fixture.open();
    others = fixture.open();
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, SLOTS})
  void noVerificationCostsAnotherLeaseItsToken(int fenced) throws Exception {
    verifiedBesideEachOther(fenced, List.of(locks));
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 2, SLOTS})
  void norOneOfAnotherClient(int fenced) throws Exception {
    verifiedBesideEachOther(fenced, List.of(locks, others));
  }

  /** The first verification of a lease differs from later ones, so each round has new leases. */
  private void verifiedBesideEachOther(int fenced, List<AmqpLocks> clients) throws Exception {
    locks.admin().tokenSemaphore("s").create(SLOTS, TokenQueueType.QUORUM);
    ExecutorService threads = Executors.newFixedThreadPool(SLOTS);
    int inDoubt = 0;
    try {
      for (int round = 0; round < ROUNDS; round++) {
        List<Lease> leases = new ArrayList<>();
        for (int i = 0; i < SLOTS; i++) {
          AmqpLock lock = clients.get(i % clients.size()).tokenSemaphore("s");
          leases.add((i < fenced ? lock.fenced() : lock).acquire(LONG));
        }
        List<Callable<LeaseState>> verifications = new ArrayList<>();
        for (Lease lease : leases) {
          verifications.add(lease::verify);
          verifications.add(lease::verify);
        }
        for (Future<LeaseState> each : threads.invokeAll(verifications)) {
          LeaseState state = each.get(30, TimeUnit.SECONDS);
          assertThat(state).as("round " + round).isNotEqualTo(LeaseState.LOST);
          inDoubt += state == LeaseState.HELD ? 0 : 1;
        }
        leases.forEach(Tokens::verified);
        leases.forEach(Lease::close);
      }
      // On a busy machine some tokens are away for longer than 0.1 s.
      assertThat(inDoubt).isLessThan(ROUNDS * SLOTS / 2);
    } finally {
      threads.shutdownNow();
      locks.admin().tokenSemaphore("s").destroy();
    }
  }
}
