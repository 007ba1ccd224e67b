package io.amqplocks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import io.amqplocks.internal.broker.QueueArguments;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockName;
import io.amqplocks.lock.LossReason;
import io.amqplocks.lock.ProbeKind;
import io.amqplocks.lock.SlotOrder;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.BrokerQueue;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * What the broker's policies do to the queues of a lock: the table of docs/operations/policies.md.
 */
@BrokerTest(everyLine = true, ownBroker = true)
@Order(1) // of the longest
class PolicyTest {

  private static final LockName NAME = LockName.of("s");

  @RegisterExtension private final Fixture fixture = new Fixture();

  @AfterEach
  void close() throws Exception {
    fixture.broker().faults().heal();
  }

  private void policy(String applyTo, String pattern, String definition) {
    fixture.broker().faults().setPolicy(fixture.prefix() + "hostile", pattern, applyTo, definition);
  }

  private void policy(String definition) {
    policy("queues", "^" + fixture.prefix(), definition);
  }

  /**
   * All that a semaphore and a mutex do, with no answer uncertain and nothing kept, but the mutex's
   * message.
   */
  private void worksAsEver() {
    for (ProbeKind kind : ProbeKind.values()) {
      AmqpLocks locks = fixture.open(fixture.builder().probing(kind));
      assertThat(locks.admin().slotSemaphore("s").createIfAbsent(2)).isEqualTo(2);
      try (Lease one = locks.slotSemaphore("s").tryAcquire().orElseThrow();
          Lease two = locks.slotSemaphore("s").tryAcquire().orElseThrow();
          Lease exclusive = locks.exclusiveQueueMutex("x").tryAcquire().orElseThrow();
          // The release of the last round may still be on its way.
          Lease mutex = Fixture.first(locks.mutex("m"))) {
        for (AmqpLocks any : List.of(locks, fixture.open())) {
          assertThat(any.slotSemaphore("s").tryAcquire()).isEmpty();
          assertThat(any.mutex("m").tryAcquire()).isEmpty();
          assertThat(any.exclusiveQueueMutex("x").tryAcquire()).isEmpty();
          assertThat(any.admin().slotSemaphore("s").count()).isEqualTo(2);
        }
        assertThat(List.of(one, two, exclusive, mutex))
            .allMatch(l -> l.verify() == LeaseState.HELD);
      }
      try (Lease again = locks.slotSemaphore("s").tryAcquire().orElseThrow()) {
        assertThat(again.verify()).isEqualTo(LeaseState.HELD);
      }
    }
    assertThat(fixture.broker().faults().queues())
        .filteredOn(queue -> queue.name().startsWith(fixture.prefix()))
        .filteredOn(queue -> !queue.name().endsWith("mutex.m"))
        .isNotEmpty()
        .extracting(BrokerQueue::messages)
        .containsOnly(0L);
  }

  @Tag("trap-3")
  @ParameterizedTest
  @ValueSource(
      strings = {
        "{\"max-length\":5}",
        "{\"max-length-bytes\":1}",
        "{\"overflow\":\"reject-publish\"}",
        "{\"overflow\":\"reject-publish\",\"max-length\":1}",
        "{\"overflow\":\"reject-publish-dlx\",\"dead-letter-exchange\":\"amq.fanout\"}",
        "{\"message-ttl\":0}",
        "{\"message-ttl\":60000}",
        "{\"delivery-limit\":1}",
        "{\"dead-letter-exchange\":\"\",\"dead-letter-routing-key\":\"nowhere\"}",
        "{\"queue-version\":2}"
      })
  void policiesThatChangeNothing(String definition) {
    policy(definition);
    worksAsEver();
  }

  /** Nobody acquires it, and nobody is told that another client holds it. */
  @Test
  void aMutexWhoseQueueMayKeepNoMessageIsNotAcquired() {
    policy("{\"max-length\":0}");
    AmqpLocks locks = fixture.open(fixture.builder().callTimeout(Duration.ofSeconds(2)));
    assertThatThrownBy(() -> locks.mutex("m").tryAcquire())
        .isInstanceOf(LockException.Unanswered.class)
        .hasMessageContaining("mutex 'm'");
  }

  /** The same policy on a queue without our arguments: there it does what makes probes useless. */
  @Tag("trap-3")
  @Test
  void itIsOurArgumentsThatKeepRejectPublishOff() throws Exception {
    policy("{\"overflow\":\"reject-publish\",\"max-length\":0}");
    try (Connection raw = fixture.broker().connectionFactory().newConnection()) {
      Channel channel = raw.createChannel();
      channel.confirmSelect();
      for (boolean ours : List.of(true, false)) {
        String queue = fixture.prefix() + ours;
        if (ours) {
          channel.asyncCompletableRpc(QueueArguments.exclusive(queue)).get();
        } else {
          channel.queueDeclare(queue, false, true, false, null);
        }
        channel.basicPublish("", queue, true, null, new byte[0]);
        assertThat(channel.waitForConfirms(30_000)).isEqualTo(ours);
      }
    }
  }

  /** They are set on a running lock more often than not. */
  @Tag("trap-3")
  @Test
  void setWhileALeaseIsHeld() {
    AmqpLocks locks = fixture.open();
    fixture.create(locks, "s", 2);
    Lease lease = locks.slotSemaphore("s").tryAcquire().orElseThrow();
    Lease mutex = locks.mutex("m").tryAcquire().orElseThrow();
    policy("{\"overflow\":\"reject-publish\",\"max-length\":0,\"message-ttl\":0}");
    assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
    assertThat(mutex.verify()).isEqualTo(LeaseState.HELD);
    assertThat(fixture.open().mutex("m").tryAcquire()).isEmpty();
    assertThat(locks.slotSemaphore("s").tryAcquire()).isPresent();
    assertThat(locks.slotSemaphore("s").tryAcquire()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(strings = {"{\"queue-mode\":\"lazy\"}", "{\"ha-mode\":\"all\"}"})
  void policiesOfOldLinesOnly(String definition) {
    if (fixture.broker().version().isAtLeast(4, 0) && definition.contains("ha-mode")) {
      assertThatThrownBy(() -> policy(definition)).isInstanceOf(IllegalStateException.class);
    } else {
      policy(definition);
      worksAsEver();
    }
  }

  /** An absent queue would seem present if the default exchange could have an alternate. */
  @Test
  void anAlternateExchangeForAllDoesNotCatchProbes() {
    policy("exchanges", ".*", "{\"alternate-exchange\":\"amq.fanout\"}");
    worksAsEver();
  }

  /** A queue without a consumer expires, as this one does: our holders consume on theirs. */
  @Tag("trap-14")
  @Test
  void expiresTakesNoHeldQueue() throws Exception {
    policy("{\"expires\":3000}");
    AmqpLocks locks = fixture.open();
    Lease lease = locks.mutex("m").tryAcquire().orElseThrow();
    Lease exclusive = locks.exclusiveQueueMutex("x").tryAcquire().orElseThrow();
    try (Connection raw = fixture.broker().connectionFactory().newConnection()) {
      Channel channel = raw.createChannel();
      channel.asyncCompletableRpc(QueueArguments.exclusive(fixture.prefix() + "idle")).get();
      await()
          .pollInterval(Duration.ofMillis(300))
          .untilAsserted(
              () ->
                  assertThat(fixture.broker().faults().queues())
                      .extracting(BrokerQueue::name)
                      .doesNotContain(fixture.prefix() + "idle"));
    }
    long start = System.nanoTime();
    await()
        .atMost(Duration.ofMinutes(1))
        .until(
            () -> {
              assertThat(lease.state()).isEqualTo(LeaseState.HELD);
              assertThat(exclusive.state()).isEqualTo(LeaseState.HELD);
              return System.nanoTime() - start > Duration.ofSeconds(4).toNanos();
            });
    assertThat(fixture.open().mutex("m").tryAcquire()).isEmpty();
    assertThat(fixture.open().exclusiveQueueMutex("x").tryAcquire()).isEmpty();
    assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
    assertThat(exclusive.verify()).isEqualTo(LeaseState.HELD);
  }

  /** The one policy that breaks a semaphore: its free slots go, and it says "not found". */
  @Tag("trap-14")
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void expiresTakesSlotsThatNobodyHolds(boolean before) {
    if (before) {
      policy("{\"expires\":8000}");
    }
    AmqpLocks locks = fixture.open(fixture.builder().verifyEvery(Duration.ofMillis(300)));
    fixture.create(locks, "s", 2);
    Lease lease = locks.slotSemaphore("s").tryAcquire().orElseThrow();
    if (!before) {
      policy("{\"expires\":8000}");
    }
    await().until(() -> !exists(fixture.names().slot(NAME, 3 - lease.slot())));
    // Each verification asks for A, and that counts as a use of it.
    assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
    lease.close();
    await().until(() -> !exists(fixture.names().slot(NAME, lease.slot())));
    // While the last one goes, its broker may refuse the probe, which tells nothing for certain.
    await()
        .untilAsserted(
            () ->
                assertThatThrownBy(() -> locks.slotSemaphore("s").tryAcquire())
                    .isInstanceOf(LockException.NotFound.class));
  }

  /** A holder that verifies too seldom to keep A alive is told, and lets go. */
  @Tag("trap-14")
  @Test
  void expiresThatIsShorterThanTheVerificationsLosesTheLease() throws Exception {
    AmqpLocks locks = fixture.open();
    fixture.create(locks, "s", 1);
    Lease lease = locks.slotSemaphore("s").tryAcquire().orElseThrow();
    // Without its consumer it would go too, and be the reason.
    await().until(() -> isConsumed(fixture.names().holder(NAME, 1)));
    policy("{\"expires\":300}");
    await().until(() -> lease.state() == LeaseState.LOST);
    assertThat(lease.lossReason().orElseThrow().cause()).isEqualTo(LossReason.Cause.SLOT_REMOVED);
  }

  /** Every probe of a slot that exists ends in the operator's queue; passive probes have none. */
  @Test
  void aDeadLetterExchangeIsFilledWithProbes() throws Exception {
    try (Connection raw = fixture.broker().connectionFactory().newConnection()) {
      Channel channel = raw.createChannel();
      String letters = channel.queueDeclare("", false, true, false, null).getQueue();
      policy(
          "{\"dead-letter-exchange\":\"\",\"dead-letter-routing-key\":\"%s\"}".formatted(letters));
      AmqpLocks passive = fixture.open(fixture.builder().probing(ProbeKind.PASSIVE));
      fixture.create(passive, "s", 3);
      for (int i = 0; i < 10; i++) {
        passive.slotSemaphore("s").tryAcquire().orElseThrow().close();
      }
      assertThat(channel.messageCount(letters)).isZero();
      // Who wants the lowest slot looks each time.
      AmqpLocks locks = fixture.open(fixture.builder().slotOrder(SlotOrder.ASCENDING));
      for (int i = 0; i < 10; i++) {
        locks.slotSemaphore("s").tryAcquire().orElseThrow().close();
      }
      await().until(() -> channel.messageCount(letters) >= 30);
    }
  }

  private boolean isConsumed(String queue) {
    return fixture.broker().faults().queues().stream()
        .anyMatch(each -> each.name().equals(queue) && each.consumers() == 1);
  }

  /** Not by a passive declare, which counts as a use. */
  private boolean exists(String queue) {
    return fixture.broker().faults().queues().stream().anyMatch(each -> each.name().equals(queue));
  }
}
