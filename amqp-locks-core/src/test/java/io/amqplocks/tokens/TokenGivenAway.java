package io.amqplocks.tokens;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenAudit;
import io.amqplocks.admin.TokenSemaphoreAdmin;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockId;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.Tokens;
import io.amqplocks.test.Broker;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The broker gives a token away and does not say so; nobody verifies but the test. */
abstract class TokenGivenAway {

  enum Way {
    BY_GET,
    PUSHED,
    VERIFIED
  }

  Broker broker;
  @RegisterExtension final Fixture fixture = new Fixture();
  AmqpLocks here;
  AmqpLocks others;
  TokenSemaphoreAdmin admin;

  @BeforeEach
  void open(Broker broker) {
    this.broker = broker;
    // Nobody verifies but the test.
    here = fixture.open(fixture.seldomVerifying());
    others = fixture.open(fixture.seldomVerifying());
    admin = others.admin().tokenSemaphore("s");
  }

  String queue(LockId lock) {
    return fixture.names().tokens(lock, Tokens.generation(broker, fixture.names(), lock));
  }

  int consumers() throws Exception {
    return Tokens.consumers(broker, fixture.names(), LockId.tokenSemaphore("s"));
  }

  /** A lease of the only token, had in that way. */
  Lease hold(AmqpLock lock, AmqpLock other, Way way) throws Exception {
    if (way == Way.PUSHED) {
      Lease theirs = other.tryAcquire().orElseThrow();
      int before = consumers();
      CompletableFuture<Lease> waiting = lock.acquireAsync(Duration.ofMinutes(1));
      await().until(() -> consumers() > before);
      theirs.close();
      return waiting.get(60, TimeUnit.SECONDS);
    }
    Lease lease = lock.tryAcquire().orElseThrow();
    if (way == Way.VERIFIED) {
      Tokens.verified(lease);
    }
    return lease;
  }

  static Lease taken(AmqpLock lock) {
    return await()
        .pollInterval(Duration.ofMillis(5))
        .until(lock::tryAcquire, Optional::isPresent)
        .orElseThrow();
  }

  static void staysHeld(Lease lease) {
    for (int i = 0; i < 3; i++) {
      Tokens.verified(lease);
    }
  }

  void oneTokenIsLeft() {
    assertThat(Tokens.audit(admin)).isEqualTo(new TokenAudit(1, 1, 0, 0, Set.of(), false));
  }
}
