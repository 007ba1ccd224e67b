package io.amqplocks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.TokenQueueType;
import io.amqplocks.lock.TokenSemaphoreAdmin;
import io.amqplocks.lock.TokenStatus;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.Tokens;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Token semaphores are created, measured and destroyed; their holders are plain AMQP clients. */
@BrokerTest(everyLine = true)
class TokenAdminTest {

  private static final LockId ID = LockId.tokenSemaphore("s");

  private Broker broker;
  private Fixture fixture;
  private TokenSemaphoreAdmin admin;
  private Connection stranger;
  private Channel holder;

  @BeforeEach
  void open(Broker broker) throws Exception {
    this.broker = broker;
    fixture = new Fixture(broker);
    admin = fixture.open().admin().tokenSemaphore("s");
    stranger = fixture.stranger();
    holder = stranger.createChannel();
  }

  @AfterEach
  void close() throws Exception {
    stranger.close();
    broker.faults().heal();
    fixture.close();
    Tokens.clear(broker, fixture.prefix());
  }

  private String tokens(int generation) {
    return fixture.names().tokens(ID, generation);
  }

  @ParameterizedTest
  @EnumSource
  void isCreatedMeasuredAndDestroyed(TokenQueueType type) throws Exception {
    assertThat(admin.count()).isZero();
    admin.destroy();
    admin.create(3, type);
    assertThat(admin.status()).isEqualTo(new TokenStatus(3, 3, 3, 0, 0, 0));
    Tokens.take(holder, tokens(1), 2);
    assertThat(admin.inUse()).isEqualTo(2);
    admin.create(3, type);
    assertThat(fixture.open().admin().tokenSemaphore("s").createIfAbsent(7, type)).isEqualTo(3);
    assertThat(admin.status()).isEqualTo(new TokenStatus(3, 3, 1, 2, 0, 0));
    assertThatThrownBy(() -> admin.create(4, type))
        .isInstanceOf(LockException.Conflict.class)
        .hasMessageContaining("token semaphore 's'");
    TokenQueueType other =
        type == TokenQueueType.QUORUM ? TokenQueueType.CLASSIC : TokenQueueType.QUORUM;
    assertThatThrownBy(() -> admin.create(3, other)).isInstanceOf(LockException.Conflict.class);
    admin.destroy();
    assertThat(admin.status()).isEqualTo(new TokenStatus(0, 0, 0, 0, 0, 0));
    assertThat(fixture.exists(tokens(1))).isFalse();
    admin.destroy();
    // The queue's name is not used again.
    assertThat(admin.createIfAbsent(2, other)).isEqualTo(2);
    assertThat(fixture.exists(tokens(1))).isFalse();
    assertThat(fixture.exists(tokens(2))).isTrue();
    assertThat(Tokens.idle(broker, tokens(2))).hasSize(2).doesNotHaveDuplicates();
  }

  @Test
  void aNumberOutOfRangeIsRefused() {
    assertThatThrownBy(() -> admin.create(0, TokenQueueType.CLASSIC))
        .isInstanceOf(LockException.Invalid.class);
    assertThatThrownBy(() -> admin.resize(10_001)).isInstanceOf(LockException.Invalid.class);
    assertThatThrownBy(() -> admin.resize(1)).isInstanceOf(LockException.NotFound.class);
    assertThat(Tokens.queues(broker, fixture.prefix())).isEmpty();
  }
}
