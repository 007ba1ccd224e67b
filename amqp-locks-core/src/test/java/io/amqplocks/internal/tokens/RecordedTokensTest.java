package io.amqplocks.internal.tokens;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.support.Fences;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.ProberSession;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * What is known of a semaphore's tokens while readers and administrators have the record in hand.
 */
@Tag("defect-S4")
@BrokerTest
class RecordedTokensTest {

  private static final LockId ID = LockId.tokenSemaphore("s");
  private static final long EPOCH = 29_900_000;

  private static final TokenRecord OLDER =
      TokenRecord.BLANK.reserved(1, EPOCH).moved(TokenQueueType.CLASSIC, 2, 4);

  private static final TokenRecord NEWER = OLDER.resized(3).adding(List.of(3), EPOCH + 1);
  private static final TokenContent ADDED = new TokenContent(3, EPOCH + 1, 4);
  private static final TokenContent FOREIGN = new TokenContent(9, EPOCH + 100, 4);

  private Broker broker;
  private Fixture fixture;
  private ProberSession client;
  private TokenRecords records;
  private String queue;

  @BeforeEach
  void open(Broker given) throws Exception {
    broker = given;
    fixture = new Fixture(given);
    records = new TokenRecords(fixture.names(), Clock.systemUTC());
    queue = fixture.names().tokenRecord(ID);
    client = new ProberSession(given.connectionFactory(), fixture.prefix(), Duration.ofSeconds(10));
    fixture.willStay(queue);
  }

  @AfterEach
  void close() throws Exception {
    client.close();
    fixture.close();
  }

  private RecordedTokens reading(TokenRecord known, TokenRecord there) throws Exception {
    try (Connection stranger = fixture.stranger()) {
      Channel channel = stranger.createChannel();
      channel.queueDeclare(queue, true, false, false, null);
    }
    publish(there);
    return new RecordedTokens(ID, records, known, client.session());
  }

  private void publish(TokenRecord record) {
    try {
      Fences.publish(broker, queue, record.toString());
    } catch (Exception e) {
      throw new IllegalStateException(e);
    }
  }

  private boolean has(RecordedTokens tokens, TokenContent token) {
    return tokens.has(client.call(), client.session(), token);
  }

  /** As long as it takes: the time for which it looks does not pass. */
  private boolean comesToHave(RecordedTokens tokens, TokenContent token) {
    long now = client.call().ticker().nanos();
    Call call = Call.on(ID, Duration.ofSeconds(30), () -> now);
    return tokens.has(call, client.session(), token);
  }

  /** Another reader has the newest one in hand just then. */
  @Test
  void anOlderRecordDoesNotReplaceANewerOne() throws Exception {
    RecordedTokens tokens = reading(NEWER, OLDER);
    assertThat(has(tokens, FOREIGN)).isFalse();
    // Nobody can look again.
    fixture.delete(queue);
    assertThat(has(tokens, ADDED)).isTrue();
  }

  @Test
  void aNewerRecordReplacesAnOlderOne() throws Exception {
    RecordedTokens tokens = reading(OLDER, NEWER);
    assertThat(has(tokens, ADDED)).isTrue();
    fixture.delete(queue);
    assertThat(has(tokens, ADDED)).isTrue();
    assertThat(has(tokens, FOREIGN)).isFalse();
  }

  /** The newest one was in another reader's hand when it was looked at first. */
  @Test
  void aTokenOfAHigherEpochIsLookedForAgain() throws Exception {
    AtomicInteger looks = new AtomicInteger();
    Clock betweenTwoLooks =
        new Clock() {
          @Override
          public Instant instant() {
            if (looks.incrementAndGet() == 1) {
              publish(NEWER);
            }
            return Instant.now();
          }

          @Override
          public ZoneId getZone() {
            return ZoneOffset.UTC;
          }

          @Override
          public Clock withZone(ZoneId zone) {
            return this;
          }
        };
    records = new TokenRecords(fixture.names(), betweenTwoLooks);
    RecordedTokens tokens = reading(OLDER, OLDER);
    CompletableFuture<Boolean> found =
        CompletableFuture.supplyAsync(() -> comesToHave(tokens, ADDED));
    assertThat(found.get(30, TimeUnit.SECONDS)).isTrue();
  }

  /** A reader that has the newest one in hand may be slow, and the older one may have stayed. */
  @Test
  void aTokenOfAHigherEpochIsLookedForForAWhile() throws Exception {
    RecordedTokens tokens = reading(OLDER, NEWER);
    try (Connection reader = fixture.stranger()) {
      Channel channel = reader.createChannel();
      long tag = channel.basicGet(queue, false).getEnvelope().getDeliveryTag();
      publish(OLDER);
      CompletableFuture<Boolean> looks =
          CompletableFuture.supplyAsync(() -> comesToHave(tokens, ADDED));
      assertThatThrownBy(() -> looks.get(200, TimeUnit.MILLISECONDS))
          .isInstanceOf(TimeoutException.class);
      channel.basicNack(tag, false, true);
      assertThat(looks.get(30, TimeUnit.SECONDS)).isTrue();
    }
  }

  /** Whoever asked gives the message back then, and removes nothing. */
  @Test
  void aCallThatEndsBeforeItIsKnownSaysSo() throws Exception {
    RecordedTokens tokens = reading(OLDER, OLDER);
    Call shortCall = Call.on(ID, Duration.ofMillis(100), client.call().ticker());
    assertThatThrownBy(() -> tokens.has(shortCall, client.session(), ADDED))
        .isInstanceOf(LockException.class);
  }

  /** For instance one that was visible for a moment after the semaphore was repaired. */
  @Test
  void anOlderRecordOfAnotherGenerationDecidesNothing() throws Exception {
    TokenRecord moved = NEWER.reserved(2, EPOCH + 100).moved(TokenQueueType.CLASSIC, 2, 4);
    RecordedTokens tokens = reading(moved, OLDER);
    CompletableFuture<Boolean> looks =
        CompletableFuture.supplyAsync(
            () -> comesToHave(tokens, new TokenContent(3, EPOCH + 101, 4)));
    assertThatThrownBy(() -> looks.get(200, TimeUnit.MILLISECONDS))
        .isInstanceOf(TimeoutException.class);
    publish(moved.resized(3).adding(List.of(3), EPOCH + 101));
    assertThat(looks.get(30, TimeUnit.SECONDS)).isTrue();
  }

  /** What it says is of another queue. */
  @Test
  void aRecordOfAnotherGenerationReplacesNone() throws Exception {
    TokenRecord moved = NEWER.reserved(2, EPOCH + 100).moved(TokenQueueType.CLASSIC, 9, 4);
    RecordedTokens tokens = reading(NEWER, moved);
    assertThat(has(tokens, new TokenContent(9, EPOCH + 100, 4))).isFalse();
    fixture.delete(queue);
    assertThat(has(tokens, ADDED)).isTrue();
  }
}
