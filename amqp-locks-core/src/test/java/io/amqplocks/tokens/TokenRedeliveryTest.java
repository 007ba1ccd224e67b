package io.amqplocks.tokens;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.GetResponse;
import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenAudit;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.admin.TokenSemaphoreAdmin;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockId;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.HolderMain;
import io.amqplocks.support.Tokens;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.ChildJvm;
import io.amqplocks.test.TcpProxy;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * However holders end, their tokens come back, and often: RabbitMQ from 4.0 on destroys a message
 * of a quorum queue with default arguments when it has come back for the 21st time.
 */
@Tag("trap-8")
@BrokerTest(everyLine = true)
class TokenRedeliveryTest {

  private static final LockId ID = LockId.tokenSemaphore("s");
  private static final int SLOTS = 2;
  private static final int ROUNDS = 50;

  /** Each takes a second or two. */
  private static final int KILLS = Integer.getInteger("amqp-locks.kills", 2);

  private Broker broker;
  @RegisterExtension private final Fixture fixture = new Fixture();
  private AmqpLocks locks;
  private TokenSemaphoreAdmin admin;
  private Connection stranger;

  @BeforeEach
  void open(Broker broker) throws Exception {
    this.broker = broker;
    locks = fixture.open();
    admin = locks.admin().tokenSemaphore("s");
    stranger = fixture.stranger();
  }

  @AfterEach
  void close() throws Exception {
    stranger.close();
  }

  @ParameterizedTest
  @EnumSource
  void tokensComeBackHoweverHoldersEnd(TokenQueueType type) throws Exception {
    admin.create(SLOTS, type);
    for (int i = 0; i < ROUNDS; i++) {
      holdersRelease();
      aStrangerRejects();
      aStrangersChannelIsClosed();
    }
    connectionsAreCut();
    for (int i = 0; i < KILLS; i++) {
      aHolderIsKilled();
    }
    assertThat(Tokens.audit(admin)).isEqualTo(new TokenAudit(SLOTS, SLOTS, 0, 0, Set.of(), false));
  }

  private void allAreBack() {
    await()
        .pollInterval(Duration.ofMillis(2))
        .untilAsserted(() -> assertThat(admin.status().idle()).isEqualTo(SLOTS));
  }

  /** One that was taken, one that was waited for. */
  private void holdersRelease() throws Exception {
    AmqpLock here = locks.tokenSemaphore("s");
    Channel channel = stranger.createChannel();
    GetResponse theirs = Tokens.take(channel, tokens(), 1).get(0);
    Lease taken = here.acquire(Duration.ofMinutes(1));
    CompletableFuture<Lease> pushed = here.acquireAsync(Duration.ofMinutes(1));
    channel.basicNack(theirs.getEnvelope().getDeliveryTag(), false, true);
    pushed.get().close();
    taken.close();
    channel.close();
    allAreBack();
  }

  private void aStrangerRejects() throws Exception {
    Channel channel = stranger.createChannel();
    List<GetResponse> taken = Tokens.take(channel, tokens(), SLOTS);
    assertThat(taken).hasSize(SLOTS);
    for (GetResponse token : taken) {
      channel.basicReject(token.getEnvelope().getDeliveryTag(), true);
    }
    channel.close();
    allAreBack();
  }

  private void aStrangersChannelIsClosed() throws Exception {
    Channel channel = stranger.createChannel();
    assertThat(Tokens.take(channel, tokens(), SLOTS)).hasSize(SLOTS);
    channel.close();
    allAreBack();
  }

  private void connectionsAreCut() throws Exception {
    try (TcpProxy proxy = TcpProxy.to(broker)) {
      ConnectionFactory factory = broker.connectionFactory();
      factory.setHost(proxy.host());
      factory.setPort(proxy.port());
      AmqpLocks locks = fixture.open(fixture.builder(factory));
      AmqpLock lock = locks.tokenSemaphore("s");
      for (int i = 0; i < ROUNDS; i++) {
        List<Lease> leases =
            List.of(lock.acquire(Duration.ofMinutes(1)), lock.acquire(Duration.ofMinutes(1)));
        proxy.reset();
        await()
            .pollInterval(Duration.ofMillis(2))
            .until(() -> leases.stream().allMatch(lease -> lease.state() == LeaseState.LOST));
        allAreBack();
      }
    }
  }

  private void aHolderIsKilled() throws Exception {
    try (ChildJvm holder =
        ChildJvm.of(HolderMain.class)
            .args(broker.uri(), fixture.prefix(), "tokens:s", "10")
            .start()) {
      holder.awaitLine("HELD", Duration.ofSeconds(90));
      holder.killNow();
    }
    allAreBack();
  }

  private String tokens() {
    return fixture.names().tokens(ID, Tokens.generation(broker, fixture.names(), ID));
  }
}
