package io.amqplocks.tokens;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.Delivery;
import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenAudit;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.admin.TokenSemaphoreAdmin;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockName;
import io.amqplocks.lock.TokenNaming;
import io.amqplocks.support.Fences;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.Tokens;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Our holders beside some that follow the two listings of the RabbitMQ blog to the letter. */
@BrokerTest(everyLine = true)
class PlainTokenHoldersTest {

  private static final Duration SHOWN_BY = Duration.ofMinutes(1);

  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final AtomicInteger holders = new AtomicInteger();
  private final AtomicInteger most = new AtomicInteger();
  private final AtomicInteger ours = new AtomicInteger();
  private final AtomicInteger theirs = new AtomicInteger();
  private Broker broker;
  @RegisterExtension private final Fixture fixture = new Fixture();
  private String name;
  private String queue;
  private TokenSemaphoreAdmin admin;
  private Connection stranger;

  @BeforeEach
  void open(Broker broker) throws Exception {
    this.broker = broker;
    name = fixture.prefix() + "resource";
    queue = TokenNaming.blog().tokens(LockName.of(name));
    admin = locks().admin().tokenSemaphore(name);
    stranger = fixture.stranger();
  }

  @AfterEach
  void close() throws Exception {
    threads.shutdownNow();
    stranger.close();
  }

  private AmqpLocks locks() {
    return fixture.open(fixture.builder().tokenNaming(TokenNaming.blog()));
  }

  private void hold(AtomicInteger whose) {
    most.accumulateAndGet(holders.incrementAndGet(), Math::max);
    whose.incrementAndGet();
    LockSupport.parkNanos(1_000_000);
    holders.decrementAndGet();
  }

  private Void ours(AmqpLock lock, BooleanSupplier goesOn) throws InterruptedException {
    while (goesOn.getAsBoolean()) {
      try (Lease lease = lock.acquire(Duration.ofMinutes(1))) {
        hold(ours);
      }
    }
    return null;
  }

  /** The second listing: a consumer with a prefetch of one, that rejects what it has used. */
  private Void theirs(BooleanSupplier goesOn) throws Exception {
    Channel channel = stranger.createChannel();
    BlockingQueue<Delivery> delivered = new LinkedBlockingQueue<>();
    channel.basicQos(1);
    channel.basicConsume(queue, false, (tag, token) -> delivered.add(token), tag -> {});
    while (goesOn.getAsBoolean()) {
      Delivery token = delivered.poll(100, TimeUnit.MILLISECONDS);
      if (token != null) {
        hold(theirs);
        channel.basicReject(token.getEnvelope().getDeliveryTag(), true);
      }
    }
    channel.close();
    return null;
  }

  /** For that time, and until both kinds held, and so many at once; but a minute at most. */
  private void together(Duration time, int atOnce) throws Exception {
    most.set(0);
    ours.set(0);
    theirs.set(0);
    long start = System.nanoTime();
    BooleanSupplier goesOn =
        () -> {
          long passed = System.nanoTime() - start;
          boolean seen = ours.get() > 0 && theirs.get() > 0 && most.get() >= atOnce;
          return passed < time.toNanos() || (!seen && passed < SHOWN_BY.toNanos());
        };
    List<Future<Void>> all = new ArrayList<>();
    for (int i = 0; i < 3; i++) {
      all.add(threads.submit(() -> theirs(goesOn)));
      AmqpLock lock = locks().tokenSemaphore(name);
      all.add(threads.submit(() -> ours(lock, goesOn)));
      all.add(threads.submit(() -> ours(lock, goesOn)));
    }
    for (Future<Void> each : all) {
      each.get(150, TimeUnit.SECONDS);
    }
    assertThat(ours.get()).isPositive();
    assertThat(theirs.get()).isPositive();
  }

  @Test
  void theLimitHoldsForAllWhoeverSetItUp() throws Exception {
    // The first listing, and what it says of a semaphore that counts.
    Channel channel = stranger.createChannel();
    channel.queueDeclare(queue, true, false, false, null);
    Fences.publish(broker, queue, "resource");
    Fences.publish(broker, queue, "resource");
    assertThat(admin.createIfAbsent(2, TokenQueueType.CLASSIC)).isEqualTo(2);
    together(Duration.ofSeconds(1), 2);
    assertThat(most).hasValue(2);
    assertThat(Tokens.audit(admin)).isEqualTo(new TokenAudit(2, 2, 0, 0, Set.of(), false));
  }

  @Test
  void aLimitThatAStrangerChangesHoldsForAllAndTheAuditTells() throws Exception {
    admin.create(2, TokenQueueType.CLASSIC);
    Future<Void> change =
        threads.submit(
            () -> {
              LockSupport.parkNanos(Duration.ofMillis(300).toNanos());
              Fences.publish(broker, queue, "1");
              return null;
            });
    together(Duration.ofSeconds(1), 3);
    change.get(60, TimeUnit.SECONDS);
    assertThat(most).hasValue(3);
    assertThat(admin.audit(Duration.ofSeconds(2)).surplus()).isEqualTo(1);
    // As rabbit-semaphore lowers it, while all others are at it: by two.
    change =
        threads.submit(
            () -> {
              lower();
              lower();
              return null;
            });
    together(Duration.ofSeconds(1), 1);
    change.get(90, TimeUnit.SECONDS);
    together(Duration.ofMillis(500), 1);
    assertThat(most).hasValue(1);
    TokenAudit audit = admin.audit(Duration.ofSeconds(3));
    assertThat(List.of(audit.seen(), audit.outstanding())).containsExactly(1, 1);
  }

  private void lower() throws Exception {
    Channel channel = stranger.createChannel();
    channel.basicQos(1);
    BlockingQueue<Delivery> received = new LinkedBlockingQueue<>();
    Map<String, Object> first = Map.of("x-priority", 9);
    String tag =
        channel.basicConsume(queue, false, first, (t, token) -> received.add(token), t -> {});
    Delivery token = received.poll(30, TimeUnit.SECONDS);
    channel.basicCancel(tag);
    channel.basicAck(token.getEnvelope().getDeliveryTag(), false);
    channel.close();
  }
}
