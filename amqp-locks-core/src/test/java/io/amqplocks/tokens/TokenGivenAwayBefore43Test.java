package io.amqplocks.tokens;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenAudit;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LossReason.Cause;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.Tokens;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Up to 4.2 a quorum queue gives away what is held as soon as the link to its holder's node is
 * down; 4.3 waits for a minute.
 */
@BrokerTest(everyLine = true, before = "4.3")
class TokenGivenAwayBefore43Test extends TokenGivenAway {

  @Tag("defect-S2")
  @ParameterizedTest
  @EnumSource
  void aQuorumQueueThatGaveTheTokenAwayIsFoundOut(Way way) throws Exception {
    admin.create(1, TokenQueueType.QUORUM);
    Lease a = hold(here.tokenSemaphore("s").fenced(), others.tokenSemaphore("s"), way);
    FencingToken number = a.fencingToken();
    Lease b = givenTo(others, a);
    assertThat(b.fencingToken().number()).isGreaterThan(number.number());
    assertThat(a.verify()).isEqualTo(LeaseState.LOST);
    assertThat(a.fencingToken()).isEqualTo(number);
    staysHeld(b);
    a.close();
    b.close();
    taken(here.tokenSemaphore("s")).close();
    oneTokenIsLeft();
  }

  /** What A's consumer is sent unasked says that its token had been given away. */
  @Tag("defect-S1")
  @ParameterizedTest
  @EnumSource(names = {"PUSHED", "VERIFIED"})
  void aSecondTokenIsALoss(Way way) throws Exception {
    admin.create(1, TokenQueueType.QUORUM);
    Lease a = hold(here.tokenSemaphore("s").fenced(), others.tokenSemaphore("s"), way);
    FencingToken number = a.fencingToken();
    Lease b = givenTo(others, a);
    b.close();
    await()
        .atMost(Fixture.AT_ONCE)
        .untilAsserted(() -> assertThat(a.state()).isEqualTo(LeaseState.LOST));
    assertThat(a.lossReason().orElseThrow().cause()).isEqualTo(Cause.REVOKED);
    assertThat(a.fencingToken()).isEqualTo(number);
    Lease next = taken(others.tokenSemaphore("s").fenced());
    // One for each time that the token changed hands, and few more: it does not go round and round.
    assertThat(next.fencingToken().n()).isBetween(number.n() + 2, number.n() + 6);
    next.close();
    oneTokenIsLeft();
  }

  /** It lies there again when A asks, but was another's meanwhile, whose number is higher. */
  @Tag("defect-S1")
  @Test
  void aTokenThatAnotherHadMeanwhileIsLostThoughItComesBack() throws Exception {
    Lease a = here.fencedMutex("m").tryAcquire().orElseThrow();
    FencingToken number = a.fencingToken();
    broker.faults().dropLinkTo(queue(a.lock()));
    Lease b = taken(others.fencedMutex("m"));
    assertThat(b.fencingToken().number()).isGreaterThan(number.number());
    b.close();
    try (Connection stranger = fixture.stranger()) {
      Channel channel = stranger.createChannel();
      String queue = queue(a.lock());
      await().until(() -> channel.messageCount(queue) == 1);
    }
    assertThat(a.verify()).isEqualTo(LeaseState.LOST);
    assertThat(a.lossReason().orElseThrow().detail()).contains("somebody else had it");
    assertThat(a.fencingToken()).isEqualTo(number);
    a.close();
    taken(others.fencedMutex("m")).close();
  }

  /**
   * With another slot idle it cannot give its own back to be verified; that one is sent to it
   * instead.
   */
  @Tag("defect-S2")
  @Test
  void aFencedLeaseThatWasGivenAwayIsFoundOutWhileAnotherSlotIsIdle() throws Exception {
    admin.create(2, TokenQueueType.QUORUM);
    Lease a = here.tokenSemaphore("s").fenced().tryAcquire().orElseThrow();
    Tokens.verified(a);
    FencingToken number = a.fencingToken();
    broker.faults().dropLinkTo(queue(a.lock()));
    await()
        .atMost(Fixture.AT_ONCE)
        .untilAsserted(() -> assertThat(a.verify()).isEqualTo(LeaseState.LOST));
    assertThat(a.lossReason().orElseThrow().cause()).isEqualTo(Cause.REVOKED);
    assertThat(a.fencingToken()).isEqualTo(number);
    Lease b = taken(others.tokenSemaphore("s").fenced());
    Lease c = taken(others.tokenSemaphore("s").fenced());
    assertThat(List.of(b.slot(), c.slot())).containsExactlyInAnyOrder(1, 2);
    staysHeld(b);
    staysHeld(c);
  }

  /** It puts back what an administrator has in hand, and sends it to the administrator again. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void whatAnAdministratorIsSentTwiceIsNotTakenForDoubled(boolean repairs) throws Exception {
    admin.create(3, TokenQueueType.QUORUM);
    Lease a = here.tokenSemaphore("s").tryAcquire().orElseThrow();
    Duration timeout = Duration.ofMinutes(1);
    CompletableFuture<TokenAudit> audit =
        CompletableFuture.supplyAsync(() -> repairs ? admin.repair(timeout) : admin.audit(timeout));
    await().until(() -> consumers() > 0 && admin.status().idle() == 0);
    broker.faults().dropLinkTo(queue(a.lock()));
    // Both come back to the administrator, and A's as well.
    TokenAudit found = audit.get(90, TimeUnit.SECONDS);
    assertThat(found.repaired()).isFalse();
    assertThat(found.surplus()).isEqualTo(repairs ? found.seen() - 3 : 0);
    assertThat(Tokens.audit(admin)).isEqualTo(new TokenAudit(3, 3, 0, 0, Set.of(), false));
  }

  /** The queue gives A's token to somebody else, who waits for it with a higher priority. */
  private Lease givenTo(AmqpLocks to, Lease a) throws Exception {
    int before = consumers();
    CompletableFuture<Lease> waiting =
        to.tokenSemaphore("s").fenced().withPriority(9).acquireAsync(Duration.ofMinutes(1));
    await().until(() -> consumers() > before);
    broker.faults().dropLinkTo(queue(a.lock()));
    return waiting.get(60, TimeUnit.SECONDS);
  }
}
