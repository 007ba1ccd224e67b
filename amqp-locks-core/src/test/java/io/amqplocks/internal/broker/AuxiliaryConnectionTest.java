package io.amqplocks.internal.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.support.ClockedClient;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The channel on which several threads publish in turns: the first of them opens it for all. */
@BrokerTest
class AuxiliaryConnectionTest {

  private static final LockId LOCK = LockId.mutex("m");

  private ClockedClient client;
  private AuxiliaryConnection announcer;

  @BeforeEach
  void open(Broker broker) {
    client = new ClockedClient(broker, Duration.ofSeconds(30));
    announcer = client.session().announcer();
  }

  @AfterEach
  void close() {
    client.close();
  }

  @Test
  void aCallerWithoutTimeLeftOpensItForAll() throws Exception {
    Call over = client.call(LOCK);
    client.pass(over.bound());
    assertThatThrownBy(() -> announcer.openChannel(over)).isInstanceOf(LockException.class);
    assertThat(announcer.shared().get(client.call(LOCK), announcer::openShared).isOpen()).isTrue();
  }

  /** An outage would be waited for, and nothing is out. */
  @Test
  void whyItCannotBeOpenedIsToldAsItIs() {
    SingleFlight<Channel> shared = announcer.shared();
    SharedFailure full = new SharedFailure(call -> call.noChannel("open a channel"));
    assertThatThrownBy(
            () ->
                shared.get(
                    client.call(LOCK),
                    () -> {
                      throw full;
                    }))
        .isInstanceOfSatisfying(
            LockException.Unanswered.class, e -> assertThat(e.isOutage()).isFalse());
  }

  /** Two wait for one attempt. */
  @Test
  void whyItCannotBeOpenedIsToldToEachForItsOwnLock() throws Exception {
    SingleFlight<Channel> shared = announcer.shared();
    announcer.close();
    CountDownLatch begun = new CountDownLatch(1);
    CountDownLatch bothWait = new CountDownLatch(1);
    Callable<Channel> opening =
        () -> {
          begun.countDown();
          assertThat(bothWait.await(60, TimeUnit.SECONDS)).isTrue();
          return announcer.openShared();
        };
    FutureTask<Channel> first = getting(shared, LockId.mutex("first"), opening);
    new Thread(first).start();
    assertThat(begun.await(60, TimeUnit.SECONDS)).isTrue();
    FutureTask<Channel> second = getting(shared, LockId.mutex("second"), opening);
    Thread waiting = new Thread(second);
    waiting.start();
    await().until(() -> waiting.getState() == Thread.State.TIMED_WAITING);
    bothWait.countDown();
    assertToldFor("first", first);
    assertToldFor("second", second);
  }

  /** Long enough for both to wait on a busy machine too. */
  private static FutureTask<Channel> getting(
      SingleFlight<Channel> shared, LockId lock, Callable<Channel> opening) {
    Call call = Call.on(lock, Duration.ofSeconds(60), Ticker.SYSTEM);
    return new FutureTask<>(() -> shared.get(call, opening));
  }

  private static void assertToldFor(String lock, FutureTask<Channel> got) {
    assertThatThrownBy(got::get)
        .hasCauseInstanceOf(LockException.Unreachable.class)
        .hasMessageContaining("was needed for mutex '" + lock + "'");
  }
}
