package io.amqplocks.slots;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.DeleteOrder;
import io.amqplocks.admin.SlotSemaphoreAdmin;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockName;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.LogWatch;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.Direction;
import io.amqplocks.test.TcpProxy;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** An administrator of slots that cannot go on half-way. */
@Tag("trap-15")
@BrokerTest(everyLine = true)
class SlotAdminFaultTest {

  private static final LockName NAME = LockName.of("s");

  /** So many that it is at work for seconds, over a network that is so slow. */
  private static final int MANY = 100;

  private static final Duration SLOW = Duration.ofMillis(150);

  /** For a growth by so many over such a network, which takes half a minute. */
  private static final Duration LONG = Duration.ofMinutes(2);

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private Broker broker;
  @RegisterExtension private final Fixture fixture = new Fixture();
  private SlotSemaphoreAdmin admin;

  @BeforeEach
  void open(Broker given) {
    broker = given;
    admin = fixture.open().admin().slotSemaphore("s");
  }

  @AfterEach
  void close() throws Exception {
    threads.shutdownNow();
  }

  private AmqpLocks slow(TcpProxy proxy) {
    return slow(proxy, Duration.ofSeconds(10));
  }

  private AmqpLocks slow(TcpProxy proxy, Duration callTimeout) {
    ConnectionFactory factory = broker.connectionFactory();
    factory.setHost(proxy.host());
    factory.setPort(proxy.port());
    proxy.delay(Direction.BROKER_TO_CLIENT, SLOW);
    return fixture.open(fixture.seldomVerifying(factory).callTimeout(callTimeout));
  }

  private boolean isThere(int slot) throws Exception {
    return fixture.exists(fixture.names().slot(NAME, slot));
  }

  /** Once another may be at work, each further step could undo what the other did. */
  private void isStopped(Future<?> change) {
    broker.faults().deleteQueue(fixture.names().admin(LockId.slotSemaphore("s")));
    assertThatThrownBy(() -> change.get(60, TimeUnit.SECONDS))
        .hasCauseInstanceOf(LockException.Unanswered.class)
        .hasMessageContaining("half-way");
  }

  @Test
  void growingStopsWithoutTheMutex() throws Exception {
    try (TcpProxy proxy = TcpProxy.to(broker)) {
      SlotSemaphoreAdmin theirs = slow(proxy).admin().slotSemaphore("s");
      Future<?> growth = threads.submit(() -> theirs.resize(MANY));
      await().atMost(LONG).pollInterval(Duration.ofMillis(5)).until(() -> isThere(MANY));
      isStopped(growth);
      assertThat(admin.count()).isZero();
      assertThat(isThere(1)).isFalse();
      assertThat(isThere(MANY)).as("who has no mutex undoes nothing").isTrue();
    }
  }

  @Test
  void shrinkingStopsWithoutTheMutex() throws Exception {
    admin.create(MANY);
    try (TcpProxy proxy = TcpProxy.to(broker)) {
      SlotSemaphoreAdmin theirs = slow(proxy).admin().slotSemaphore("s");
      Future<?> shrinking = threads.submit(() -> theirs.resize(0, DeleteOrder.DESCENDING));
      await().atMost(LONG).pollInterval(Duration.ofMillis(5)).until(() -> !isThere(MANY));
      isStopped(shrinking);
      assertThat(admin.count()).isBetween(1, MANY - 1);
    }
  }

  /** A growth to {@code MANY} that fails at A[2], which a stranger has, and is being undone. */
  private Future<?> undoing(SlotSemaphoreAdmin theirs, Connection stranger) throws Exception {
    stranger.createChannel().queueDeclare(fixture.names().slot(NAME, 2), false, true, false, null);
    Future<?> growth = threads.submit(() -> theirs.resize(MANY));
    await().atMost(LONG).pollInterval(Duration.ofMillis(5)).until(() -> isThere(MANY));
    await().atMost(LONG).pollInterval(Duration.ofMillis(5)).until(() -> !isThere(MANY));
    return growth;
  }

  /** The last slot that would be undone is A[3], for A[2] is the stranger's. */
  private void isLeftAndSaid(LogWatch log) throws Exception {
    assertThat(isThere(3)).isTrue();
    assertThat(log.warnings())
        .anySatisfy(
            warning ->
                assertThat(warning)
                    .contains("semaphore 's'", "slots from 2 to", "stay behind", "prune("));
  }

  @Test
  void undoingStopsWithoutTheMutex() throws Exception {
    try (LogWatch log = LogWatch.of("io.amqplocks.internal.slots");
        Connection stranger = fixture.stranger();
        TcpProxy proxy = TcpProxy.to(broker)) {
      // So long that undoing does not end by it.
      SlotSemaphoreAdmin theirs = slow(proxy, Duration.ofMinutes(1)).admin().slotSemaphore("s");
      Future<?> growth = undoing(theirs, stranger);
      broker.faults().deleteQueue(fixture.names().admin(LockId.slotSemaphore("s")));
      assertThatThrownBy(() -> growth.get(60, TimeUnit.SECONDS))
          .hasMessageContaining(fixture.names().slot(NAME, 2));
      isLeftAndSaid(log);
      assertThat(log.warnings()).anyMatch(warning -> warning.contains("mutex is LOST"));
    }
    assertThat(admin.prune(MANY)).isPositive();
    assertThat(isThere(3)).isFalse();
  }

  /** Each slot for itself would take a call timeout, and all of them several minutes. */
  @Test
  void undoingTakesNoLongerThanACall() throws Exception {
    try (LogWatch log = LogWatch.of("io.amqplocks.internal.slots");
        Connection stranger = fixture.stranger();
        TcpProxy proxy = TcpProxy.to(broker)) {
      SlotSemaphoreAdmin theirs = slow(proxy, Duration.ofSeconds(5)).admin().slotSemaphore("s");
      Future<?> growth = undoing(theirs, stranger);
      proxy.blackHole(Direction.BOTH);
      assertThatThrownBy(() -> growth.get(60, TimeUnit.SECONDS))
          .hasMessageContaining(fixture.names().slot(NAME, 2));
      isLeftAndSaid(log);
    }
  }

  @Test
  void aGrowthThatFailsLeavesNothingBehind() throws Exception {
    admin.create(2);
    try (Connection stranger = fixture.stranger()) {
      // Slots come about from the highest on down, so four are there when this one cannot be.
      stranger
          .createChannel()
          .queueDeclare(fixture.names().slot(NAME, 4), false, true, false, null);
      assertThatThrownBy(() -> admin.resize(8))
          .isInstanceOf(LockException.class)
          .hasMessageContaining(fixture.names().slot(NAME, 4));
      for (int slot = 5; slot <= 8; slot++) {
        assertThat(isThere(slot)).as("slot %d", slot).isFalse();
      }
      assertThat(admin.count()).isEqualTo(2);
    }
    admin.resize(8);
    assertThat(admin.count()).isEqualTo(8);
  }
}
