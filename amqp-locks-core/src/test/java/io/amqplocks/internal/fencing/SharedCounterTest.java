package io.amqplocks.internal.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.GetResponse;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.FenceCounter;
import io.amqplocks.internal.broker.Ticker;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind;
import io.amqplocks.support.ClockedClient;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Clock;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Supplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Shared counters that are empty: in use by others, lost, or never filled. */
@BrokerTest(everyLine = true)
class SharedCounterTest {

  private static final LockId KEY = LockId.mutex("order:1");
  private static final FenceCounter COUNTER = FenceCounter.of(KEY, 1);
  private static final Duration LONG = Duration.ofSeconds(30);

  /** Enough for many tries, and for the reply to the last one of a slow broker. */
  private static final Duration SHORT = Duration.ofSeconds(4);

  @RegisterExtension private final Fixture fixture = new Fixture();
  private final AtomicLong passed = new AtomicLong();
  private final Ticker ticker = () -> System.nanoTime() + passed.get();
  private ClockedClient client;
  private CounterFactory making;

  @BeforeEach
  void open(Broker broker) {
    client = new ClockedClient(broker, LONG);
    making = new CounterFactory(fixture.names(), Clock.systemUTC());
  }

  @AfterEach
  void close() {
    client.close();
  }

  private FencingToken draw(Fence fence, Duration bound) {
    return fence.draw(Call.on(KEY, bound, ticker), client.session(), KEY, 1);
  }

  private FencingToken draw(Fence fence, LockId lock, Duration bound) {
    return fence.draw(Call.on(lock, bound, ticker), client.session(), lock, 1);
  }

  /** A machine that stalls has no time left for the last reply. Then the draw is repeated. */
  private LockException failureOfDraw(Supplier<Fence> fence, LockId lock) {
    for (int left = 5; ; left--) {
      LockException failure =
          catchThrowableOfType(LockException.class, () -> draw(fence.get(), lock, SHORT));
      boolean isStall =
          failure instanceof LockException.Unanswered
              && !String.valueOf(failure.getMessage()).contains("Try again");
      if (!isStall || left == 0) {
        return failure;
      }
    }
  }

  /** Other keys draw from the counter of the mutex, and other readers from the other one. */
  @ParameterizedTest
  @EnumSource(names = {"MUTEX", "READ_LOCK"})
  void oneThatWasReadLatelyIsBusyAndNotLost(LockKind kind) throws Exception {
    LockId lock = kind == LockKind.MUTEX ? KEY : LockId.readLock("m");
    String counter = fixture.names().counter(FenceCounter.of(lock, 1), 1);
    Fence fence = new Fence(fixture.names(), making);
    FencingToken before = draw(fence, lock, LONG);
    try (Connection other = fixture.stranger()) {
      Channel channel = other.createChannel();
      GetResponse taken = channel.basicGet(counter, false);
      assertThat(failureOfDraw(() -> fence, lock))
          .isInstanceOf(LockException.Unanswered.class)
          .hasMessageContaining(lock.toString())
          .hasMessageContaining("Try again");
      // A process that has not seen the message cannot tell.
      assertThat(failureOfDraw(() -> new Fence(fixture.names(), making), lock))
          .isInstanceOf(LockException.FenceUnavailable.class);
      passed.addAndGet(RecentReads.LATELY.toNanos());
      assertThat(failureOfDraw(() -> fence, lock))
          .isInstanceOf(LockException.FenceUnavailable.class)
          .hasMessageContaining("was empty");
      channel.basicNack(taken.getEnvelope().getDeliveryTag(), false, true);
    }
    assertThat(draw(fence, lock, LONG).isAfter(before)).isTrue();
  }

  /** With half of what remains for each, three of them would take 26 of the 30 seconds. */
  @Test
  void countersThatWereNeverFilledDelayARenewalLittle() throws Exception {
    FencingToken before = draw(new Fence(fixture.names(), making), LONG);
    try (Connection other = fixture.stranger()) {
      Channel channel = other.createChannel();
      for (int generation = 2; generation <= 4; generation++) {
        channel.queueDeclare(
            fixture.names().counter(COUNTER, generation),
            true,
            false,
            false,
            Map.of("x-queue-type", "quorum"));
      }
    }
    Call call = Call.on(KEY, LONG, Ticker.SYSTEM);
    assertThat(making.renew(call, client.session(), COUNTER, 0)).isGreaterThan(before.epoch());
    assertThat(call.remainingNanos()).isGreaterThan(LONG.dividedBy(2).toNanos());
  }
}
