package io.amqplocks.internal.tokens.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import io.amqplocks.admin.SlotChange;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.admin.TokenStatus;
import io.amqplocks.internal.broker.Ticker;
import io.amqplocks.lock.LockId;
import io.amqplocks.support.ClockedClient;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.Tokens;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Clock;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Withdrawals for which the system starts no thread now. */
@BrokerTest
class TokenWithdrawalsTest {

  private static final LockId ID = LockId.tokenSemaphore("s");

  /** Who waited for a withdrawal that never ran would wait for twice that. */
  private static final Duration CALL_TIMEOUT = Duration.ofSeconds(40);

  @RegisterExtension private final Fixture fixture = new Fixture();
  private final AtomicBoolean refuses = new AtomicBoolean(true);
  private final TokenWithdrawals withdrawals = new TokenWithdrawals(this::thread);
  private ClockedClient client;
  private Connection stranger;
  private TokenAdministration admin;

  private Thread thread(Runnable task) {
    if (refuses.get()) {
      throw new OutOfMemoryError("unable to create native thread, says the test");
    }
    return new Thread(task);
  }

  @BeforeEach
  void resizeWithoutAThread(Broker broker) throws Exception {
    client = new ClockedClient(broker, Duration.ofSeconds(30));
    stranger = fixture.stranger();
    AdminTurn turn =
        new AdminTurn(
            ID,
            fixture.names(),
            client.sessions(),
            CALL_TIMEOUT,
            Ticker.SYSTEM,
            Clock.systemUTC(),
            Duration.ofSeconds(30));
    admin = new TokenAdministration(turn, withdrawals);
    admin.create(2, TokenQueueType.CLASSIC);
    Channel holder = stranger.createChannel();
    int generation = Tokens.generation(broker, fixture.names(), ID);
    assertThat(Tokens.take(holder, fixture.names().tokens(ID, generation), 2)).hasSize(2);
    // An OutOfMemoryError that came through would end all tests.
    assertThatCode(() -> assertThat(admin.resize(1)).isEqualTo(new SlotChange(2, 1)))
        .doesNotThrowAnyException();
  }

  @AfterEach
  void close() {
    withdrawals.close();
    client.close();
    stranger.abort();
  }

  @Test
  void theNextChangeDoesWhatIsLeft() throws Exception {
    refuses.set(false);
    long start = System.nanoTime();
    assertThat(admin.resize(1)).isEqualTo(new SlotChange(1, 1));
    assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(CALL_TIMEOUT);
    stranger.close();
    assertThat(admin.awaitWithdrawn(Duration.ofSeconds(30))).isTrue();
    assertThat(admin.status()).isEqualTo(new TokenStatus(1, 1, 1, 0, 0, 0));
  }

  @Test
  void theCloseWaitsForNone() {
    long start = System.nanoTime();
    withdrawals.close();
    assertThat(Duration.ofNanos(System.nanoTime() - start)).isLessThan(CALL_TIMEOUT);
  }
}
