package io.amqplocks.spring.integration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.ConcurrentModificationException;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.integration.leader.DefaultCandidate;
import org.springframework.integration.support.leader.LockRegistryLeaderInitiator;
import org.springframework.integration.support.locks.DistributedLock;

@SuppressWarnings("LockNotBeforeTry") // What locking and unlocking do is what is tested.
@BrokerTest(everyLine = true)
class AmqpLockRegistryTest {

  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private final String registryKey = "si-" + UUID.randomUUID();
  private AmqpLocks here;
  private AmqpLocks there;
  private AmqpLockRegistry registry;
  private AmqpLockRegistry other;

  @BeforeEach
  void open(Broker broker) {
    here = AmqpLocks.builder(broker.connectionFactory()).build();
    there = AmqpLocks.builder(broker.connectionFactory()).build();
    registry = new AmqpLockRegistry(here, registryKey);
    other = new AmqpLockRegistry(there, registryKey);
  }

  @AfterEach
  void close() {
    here.close();
    there.close();
  }

  @Test
  void aKeyIsOneLockHoweverOftenItIsObtained() {
    registry.obtain("k").lock();
    assertThat(registry.obtain("k").tryLock()).isTrue();
    assertThat(other.obtain("k").tryLock()).isFalse();
    assertThat(other.obtain("another").tryLock()).isTrue();
    registry.obtain("k").unlock();
    assertThat(other.obtain("k").tryLock()).isFalse();
    registry.obtain("k").unlock();
    await().atMost(PATIENCE).until(() -> other.obtain("k").tryLock());
    assertThatThrownBy(registry.obtain("k")::unlock)
        .isInstanceOf(IllegalMonitorStateException.class);
  }

  @Test
  void tasksAreExecutedLocked() throws Exception {
    String result =
        registry.executeLocked(
            "k",
            () -> {
              assertThatThrownBy(() -> other.executeLocked("k", Duration.ofMillis(50), () -> {}))
                  .isInstanceOf(TimeoutException.class);
              return "done";
            });
    assertThat(result).isEqualTo("done");
    other.executeLocked("k", PATIENCE, () -> {});
  }

  @Test
  void aLossIsReportedAsByOtherRegistries() {
    DistributedLock lock = registry.obtain("k");
    lock.lock();
    registry.renewLock("k");
    here.revoke(LockId.mutex(registryKey + ":k"), "a test");
    assertThatThrownBy(() -> registry.renewLock("k"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("is LOST and cannot be renewed; unlock it");
    assertThatThrownBy(lock::unlock)
        .isInstanceOf(ConcurrentModificationException.class)
        .hasCauseInstanceOf(LockException.Lost.class);
    assertThatThrownBy(() -> registry.renewLock("k"))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("not held by this thread");
  }

  @Test
  void aTimeToLiveEndsALock() throws Exception {
    DistributedLock lock = registry.obtain("k");
    assertThat(lock.tryLock(PATIENCE, Duration.ofMillis(300))).isTrue();
    assertThat(other.obtain("k").tryLock(30, TimeUnit.SECONDS)).isTrue();
    assertThatThrownBy(lock::unlock).isInstanceOf(ConcurrentModificationException.class);
    assertThatThrownBy(() -> registry.renewLock("k", PATIENCE))
        .isInstanceOf(UnsupportedOperationException.class);
    other.obtain("k").unlock();
    lock.lock(Duration.ofMillis(300));
    assertThat(other.obtain("k").tryLock(30, TimeUnit.SECONDS)).isTrue();
    assertThatThrownBy(lock::unlock).isInstanceOf(ConcurrentModificationException.class);
    other.obtain("k").unlock();
    lock.lock(PATIENCE);
    lock.unlock();
  }

  /** Two applications, each with a bean of the initiator: the second leads when the first stops. */
  @Test
  void anotherApplicationLeadsWhenTheLeaderStops() {
    try (AnnotationConfigApplicationContext first = application(registry);
        AnnotationConfigApplicationContext second = application(other)) {
      await().atMost(PATIENCE).until(() -> leads(first) || leads(second));
      boolean firstLeads = leads(first);
      AnnotationConfigApplicationContext leader = firstLeads ? first : second;
      AnnotationConfigApplicationContext next = firstLeads ? second : first;
      // Both go on trying, the leader by locking again what it has locked.
      await()
          .during(Duration.ofSeconds(2))
          .atMost(PATIENCE)
          .until(() -> leads(leader) && !leads(next));
      leader.close();
      await().atMost(PATIENCE).until(() -> leads(next));
    }
    // The interrupt by which the initiator stops leaves no lease behind.
    await().atMost(PATIENCE).until(() -> here.leases().isEmpty() && there.leases().isEmpty());
  }

  @Test
  void aLeaderWhoseLockIsLostLeadsNoMore() {
    LockId lock = LockId.mutex(registryKey + ":leader");
    try (AnnotationConfigApplicationContext first = application(registry)) {
      await().atMost(PATIENCE).until(() -> leads(first));
      try (AnnotationConfigApplicationContext second = application(other)) {
        await()
            .atMost(PATIENCE.multipliedBy(2))
            .until(
                () -> {
                  // Again if the second one was between two of its waits, and the first one leads
                  // once more.
                  if (leads(first) && there.waiting().containsKey(lock)) {
                    here.revoke(lock, "a test");
                  }
                  return leads(second) && !leads(first);
                });
        second.close();
        await().atMost(PATIENCE).until(() -> leads(first));
      }
    }
  }

  private static AnnotationConfigApplicationContext application(AmqpLockRegistry registry) {
    AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
    context.registerBean(
        LockRegistryLeaderInitiator.class,
        () ->
            new LockRegistryLeaderInitiator(
                registry, new DefaultCandidate(UUID.randomUUID().toString(), "leader")));
    context.refresh();
    return context;
  }

  private static boolean leads(AnnotationConfigApplicationContext context) {
    return context.getBean(LockRegistryLeaderInitiator.class).getContext().isLeader();
  }
}
