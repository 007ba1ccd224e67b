package io.amqplocks.persistent;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.PersistentMutexAdmin;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockName;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.LockContract;
import io.amqplocks.support.Recorder;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@BrokerTest(everyLine = true)
class PersistentMutexTest extends LockContract {

  private AmqpLocks onlooker;

  @BeforeEach
  void openOnlooker() {
    onlooker = fixture.open();
  }

  @Override
  protected void make(AmqpLocks locks, String name) {
    fixture.enable(locks, name);
  }

  @Override
  protected AmqpLock lock(AmqpLocks locks, String name) {
    return locks.persistentMutex(name);
  }

  @Override
  protected boolean isHeld(String name) {
    return onlooker.admin().persistentMutex(name).isHeld();
  }

  /** A release is not confirmed: the broker has it a moment later. */
  @Override
  protected void isFree(String name) {
    await().until(() -> !isHeld(name));
  }

  private String queue(String name) {
    return fixture.names().persistentMutex(LockName.of(name));
  }

  private AmqpLocks enabled(String name) {
    AmqpLocks locks = fixture.open();
    fixture.enable(locks, name);
    return locks;
  }

  /** One session, two, and both: a lost race costs nobody anything but the lock. */
  @Test
  void oneHolderAmongRacingThreads() throws Exception {
    AmqpLocks ours = enabled("m");
    fixture.enable(ours, "other");
    AmqpLocks theirs = fixture.open();
    Lease bystander = ours.persistentMutex("other").tryAcquire().orElseThrow();
    List<AmqpLocks> racers = List.of(ours, ours, theirs, theirs);
    for (int round = 0; round < 50; round++) {
      isFree("m");
      CyclicBarrier start = new CyclicBarrier(racers.size());
      List<Future<Optional<Lease>>> tries = new ArrayList<>();
      for (AmqpLocks each : racers) {
        tries.add(
            threads.submit(
                () -> {
                  start.await();
                  return each.persistentMutex("m").tryAcquire();
                }));
      }
      List<Lease> won = new ArrayList<>();
      for (Future<Optional<Lease>> each : tries) {
        each.get().ifPresent(won::add);
      }
      assertThat(won).hasSize(1);
      won.forEach(Lease::close);
    }
    assertThat(bystander.verify()).isEqualTo(LeaseState.HELD);
  }

  @Tag("trap-14")
  @Test
  void disablingTellsTheHolderAtOnceAndSendsOthersAway(Broker broker) throws Exception {
    Recorder recorder = new Recorder();
    AmqpLocks admin = enabled("m");
    fixture.enable(admin, "other");
    AmqpLocks locks = fixture.open(fixture.seldomVerifying().listener(recorder));
    Lease lease = locks.persistentMutex("m").tryAcquire().orElseThrow();
    Lease other = locks.persistentMutex("other").tryAcquire().orElseThrow();
    Future<?> waiting = threads.submit(() -> locks.persistentMutex("m").acquire(LONG));
    AmqpLocks others = fixture.open();
    Future<?> elsewhere = threads.submit(() -> others.persistentMutex("m").acquire(LONG));
    fixture.awaitConsumers(queue("m"), 3);
    CompletableFuture<String> heard = new CompletableFuture<>();
    lease.whenLost().thenAccept(reason -> heard.complete(reason.toString()));
    admin.admin().persistentMutex("m").disable();
    assertThat(heard.get(Fixture.AT_ONCE.toSeconds(), TimeUnit.SECONDS))
        .contains("REVOKED")
        .contains(queue("m"));
    assertThat(lease.state()).isEqualTo(LeaseState.LOST);
    assertThat(lease.verify()).isEqualTo(LeaseState.LOST);
    for (Future<?> waiter : List.of(waiting, elsewhere)) {
      assertThatThrownBy(() -> waiter.get(Fixture.AT_ONCE.toSeconds(), TimeUnit.SECONDS))
          .hasCauseInstanceOf(LockException.NotFound.class);
    }
    assertThatThrownBy(() -> locks.persistentMutex("m").tryAcquire())
        .isInstanceOf(LockException.NotFound.class)
        .hasMessageContaining("persistent mutex 'm'")
        .hasMessageContaining("enable()");
    assertThat(other.verify()).isEqualTo(LeaseState.HELD);
    await()
        .untilAsserted(
            () -> assertThat(recorder.heard).contains("lost persistent mutex 'm' REVOKED"));
    admin.admin().persistentMutex("m").enable();
    await().until(() -> locks.persistentMutex("m").tryAcquire().isPresent());
    assertThat(lease.state()).isEqualTo(LeaseState.LOST);
  }

  @Test
  void enablingAndDisablingMayBeRepeated() {
    PersistentMutexAdmin admin = fixture.open().admin().persistentMutex("n");
    assertThat(admin.isEnabled()).isFalse();
    assertThat(admin.isHeld()).isFalse();
    admin.disable();
    fixture.willStay(queue("n"));
    admin.enable();
    admin.enable();
    assertThat(admin.isEnabled()).isTrue();
    admin.disable();
    admin.disable();
    assertThat(admin.isEnabled()).isFalse();
  }

  /** A lease of before is never taken for one of after, and nobody holds beside the new holder. */
  @Test
  void disablingAndEnablingTakesTheMutexFromItsHolder() throws Exception {
    AmqpLocks admin = enabled("m");
    AmqpLock mine = fixture.open().persistentMutex("m");
    AmqpLock theirs = fixture.open().persistentMutex("m");
    for (int round = 0; round < 20; round++) {
      Lease old = Fixture.first(round % 2 == 0 ? mine : theirs);
      admin.admin().persistentMutex("m").disable();
      admin.admin().persistentMutex("m").enable();
      try (Lease next = (round % 2 == 0 ? theirs : mine).acquire(LONG)) {
        assertThat(old.whenLost().toCompletableFuture().get(30, TimeUnit.SECONDS).detail())
            .contains(queue("m"));
        assertThat(old.verify()).isEqualTo(LeaseState.LOST);
        assertThat(next.verify()).isEqualTo(LeaseState.HELD);
      }
    }
  }

  /** Waiters of different processes are served in the order of their arrival. */
  @Test
  void waitersOfManyProcessesAreServedInOrder() throws Exception {
    Lease first = enabled("m").persistentMutex("m").tryAcquire().orElseThrow();
    List<Integer> order = new ArrayList<>();
    List<Future<?>> waiting = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      int number = i;
      AmqpLock mutex = fixture.open().persistentMutex("m");
      waiting.add(
          threads.submit(
              () -> {
                try (Lease lease = mutex.acquire(LONG)) {
                  order.add(number);
                }
                return null;
              }));
      fixture.awaitConsumers(queue("m"), number + 2);
    }
    first.close();
    for (Future<?> each : waiting) {
      each.get(60, TimeUnit.SECONDS);
    }
    assertThat(order).containsExactly(0, 1, 2, 3, 4);
  }

  /** Nobody who acquires it may bring it back, not even by waiting. */
  @Test
  void whoAcquiresItDoesNotEnableIt() throws Exception {
    AmqpLocks locks = enabled("m");
    AmqpLock mutex = locks.persistentMutex("m");
    mutex.tryAcquire().orElseThrow().close();
    fixture.delete(queue("m"));
    for (Duration wait : List.of(Duration.ZERO, LONG)) {
      assertThatThrownBy(() -> mutex.acquire(wait)).isInstanceOf(LockException.NotFound.class);
      assertThatThrownBy(() -> fixture.open().persistentMutex("m").acquire(wait))
          .isInstanceOf(LockException.NotFound.class);
    }
    assertThat(fixture.exists(queue("m"))).isFalse();
  }

  /** A purge, or a message that a stranger took: nothing is left to send. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aLostMessageIsReplaced(boolean waited) throws Exception {
    AmqpLocks locks = enabled("m");
    AmqpLock mutex = locks.persistentMutex("m");
    mutex.tryAcquire().orElseThrow().close();
    isFree("m");
    try (Connection stranger = fixture.stranger()) {
      Channel channel = stranger.createChannel();
      await().until(() -> channel.queuePurge(queue("m")).getMessageCount() > 0);
      assertThat(channel.messageCount(queue("m"))).isZero();
      try (Lease lease = waited ? mutex.acquire(LONG) : mutex.tryAcquire().orElseThrow()) {
        assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
        assertThat(fixture.open().persistentMutex("m").tryAcquire()).isEmpty();
      }
    }
  }

  @Test
  void twoAdministratorsAndSomeUsersAtOnce() throws Exception {
    AmqpLocks first = enabled("m");
    AmqpLocks second = fixture.open();
    List<Future<?>> all = new ArrayList<>();
    long end = System.nanoTime() + Duration.ofSeconds(3).toNanos();
    for (AmqpLocks each : List.of(first, second)) {
      all.add(
          threads.submit(
              () -> {
                while (System.nanoTime() < end) {
                  each.admin().persistentMutex("m").disable();
                  each.admin().persistentMutex("m").enable();
                }
              }));
      all.add(
          threads.submit(
              () -> {
                while (System.nanoTime() < end) {
                  try {
                    each.persistentMutex("m").tryAcquire().ifPresent(Lease::close);
                  } catch (LockException.NotFound e) {
                    assertThat(e).hasMessageContaining("enable");
                  }
                }
              }));
    }
    for (Future<?> each : all) {
      each.get(60, TimeUnit.SECONDS);
    }
    assertThat(first.admin().persistentMutex("m").isEnabled()).isTrue();
    await().until(() -> !first.admin().persistentMutex("m").isHeld());
    Fixture.first(first.persistentMutex("m")).close();
    assertThat(second.status().held()).isZero();
  }
}
