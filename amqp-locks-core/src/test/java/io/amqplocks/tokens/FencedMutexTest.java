package io.amqplocks.tokens;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.DefaultConsumer;
import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.LockContract;
import io.amqplocks.support.Tokens;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

@BrokerTest(everyLine = true)
class FencedMutexTest extends LockContract {

  @Override
  protected void make(AmqpLocks locks, String name) {}

  @Override
  protected AmqpLock lock(AmqpLocks locks, String name) {
    return locks.fencedMutex(name);
  }

  @Override
  protected boolean isHeld(String name) throws Exception {
    LockId id = LockId.fencedMutex(name);
    String queue = fixture.names().tokens(id, Tokens.generation(broker(), fixture.names(), id));
    return fixture.exists(queue) && Tokens.idle(broker(), queue).isEmpty();
  }

  /** A token goes back by a message that nobody waits for. */
  @Override
  protected void isFree(String name) {
    await().until(() -> !isHeld(name));
  }

  /** Its first users make it, and one of them may die between making the record and writing it. */
  @Test
  void aRecordThatItsMakerDidNotWriteIsWritten() throws Exception {
    FencingToken before;
    try (Lease lease = lock(fixture.open(), "m").acquire(LONG)) {
      before = lease.fencingToken();
    }
    try (Connection connection = fixture.stranger()) {
      String queue = fixture.names().tokenRecord(LockId.fencedMutex("m"));
      assertThat(connection.createChannel().queuePurge(queue).getMessageCount()).isEqualTo(1);
    }
    try (Lease lease = lock(fixture.open(), "m").acquire(LONG)) {
      assertThat(lease.fencingToken().isAfter(before)).isTrue();
      assertThat(lock(fixture.open(), "m").tryAcquire()).isEmpty();
    }
  }

  /**
   * Restoring it takes longer than a call, and goes on when that has ended. It takes five seconds,
   * for so long is the message of its ledger awaited, and on a machine that stalls two calls may
   * last longer. So there are several rounds, and one of them must do. If calls waited for the end,
   * none would.
   */
  @Test
  void whoFindsItMissingWaitsNoLongerThanACall() throws Exception {
    AmqpLocks hasty = fixture.open(fixture.builder().callTimeout(Duration.ofSeconds(2)));
    // Then it has its connections, which may take longer than such a call.
    Fixture.first(lock(hasty, "other")).close();
    List<Throwable> failures = new ArrayList<>();
    for (int round = 0; round < 5 && failures.size() == round; round++) {
      AmqpLock mutex = lock(hasty, "m" + round);
      Optional<Throwable> failure = failureOfTwoCallsWhileItIsRestored(mutex);
      failure.ifPresent(failures::add);
      if (failure.isEmpty()) {
        await()
            .ignoreExceptionsInstanceOf(LockException.class)
            .until(mutex::tryAcquire, Optional::isPresent)
            .orElseThrow()
            .close();
      }
    }
    assertThat(failures).hasSizeLessThan(5);
  }

  /** The second one finds the creation under way. */
  private Optional<Throwable> failureOfTwoCallsWhileItIsRestored(AmqpLock mutex) throws Exception {
    LockId id = mutex.id();
    lock(fixture.open(), id.name().value()).tryAcquire().orElseThrow().close();
    try (Connection keeper = fixture.stranger()) {
      Channel channel = keeper.createChannel();
      assertThat(channel.basicGet(fixture.names().tokenLedger(id), false)).isNotNull();
      fixture.delete(fixture.names().tokenRecord(id));
      return Optional.ofNullable(
          catchThrowable(
              () -> {
                waitsNoLongerThanACall(mutex);
                waitsNoLongerThanACall(mutex);
              }));
    }
  }

  private static void waitsNoLongerThanACall(AmqpLock mutex) {
    long start = System.nanoTime();
    assertThatExceptionOfType(LockException.Unanswered.class)
        .isThrownBy(mutex::tryAcquire)
        .withMessageContaining(mutex.id() + " is being created or restored")
        // Nobody is to work without the lock for that.
        .matches(late -> !late.isOutage());
    assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(Duration.ofSeconds(6));
  }

  @Test
  void whoeverIsFirstItIsCreatedOnce() throws Exception {
    AmqpLock mine = lock(fixture.patient(), "m");
    AmqpLock others = lock(fixture.patient(), "m");
    List<Future<FencingToken>> all = new ArrayList<>();
    for (int i = 0; i < 16; i++) {
      AmqpLock each = i % 2 == 0 ? mine : others;
      all.add(
          threads.submit(
              () -> {
                try (Lease lease = each.acquire(LONG)) {
                  return lease.fencingToken();
                }
              }));
    }
    List<FencingToken> tokens = new ArrayList<>();
    for (Future<FencingToken> each : all) {
      tokens.add(each.get(60, TimeUnit.SECONDS));
    }
    assertThat(tokens).doesNotHaveDuplicates();
    assertThat(Tokens.queues(broker(), fixture.prefix()))
        .filteredOn(queue -> queue.contains(".tokens."))
        .hasSize(1);
  }

  /** Somebody who keeps whatever is written there gets no more than one copy each time. */
  @Test
  void aRecordThatSomebodyKeepsIsNamed() throws Exception {
    lock(fixture.open(), "m").tryAcquire().orElseThrow().close();
    String queue = fixture.names().tokenRecord(LockId.fencedMutex("m"));
    try (Connection connection = fixture.stranger()) {
      Channel channel = connection.createChannel();
      channel.basicConsume(queue, false, new DefaultConsumer(channel));
      for (int i = 0; i < 2; i++) {
        assertThatExceptionOfType(LockException.Unexpected.class)
            .isThrownBy(() -> lock(fixture.open(), "m").tryAcquire())
            .withMessageContaining("fenced mutex 'm' in queue " + queue + " was not to be had");
      }
    }
    await().until(() -> messages(queue) == 3);
    fixture.open().admin().fencedMutex("m").create(1, TokenQueueType.QUORUM);
    await().untilAsserted(() -> assertThat(messages(queue)).isEqualTo(1));
    lock(fixture.open(), "m").tryAcquire().orElseThrow().close();
  }

  private int messages(String queue) throws Exception {
    try (Connection connection = fixture.stranger()) {
      return connection.createChannel().queueDeclarePassive(queue).getMessageCount();
    }
  }

  /** Each lease has its own token, also if the slot is handed over within the process. */
  @Test
  @Override
  protected void fencedItHasTokensThatRise() throws Exception {
    AmqpLocks locks = fixture.patient();
    AmqpLock mine = lock(locks, "m");
    AtomicReference<FencingToken> last = new AtomicReference<>();
    List<Future<?>> all = new ArrayList<>();
    for (AmqpLock each : List.of(mine, mine, mine.fenced(), lock(fixture.patient(), "m"))) {
      all.add(
          threads.submit(
              () -> {
                for (int i = 0; i < 12; i++) {
                  try (Lease lease = each.acquire(LONG)) {
                    FencingToken token = lease.fencingToken();
                    assertThat(lease.fencingTokenIfAny()).contains(token);
                    Tokens.verified(lease);
                    FencingToken before = last.getAndSet(token);
                    assertThat(before == null || token.isAfter(before))
                        .as("%s, %s", before, token)
                        .isTrue();
                  }
                }
                return null;
              }));
    }
    for (Future<?> each : all) {
      each.get(120, TimeUnit.SECONDS);
    }
  }
}
