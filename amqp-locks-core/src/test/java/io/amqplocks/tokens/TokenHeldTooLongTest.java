package io.amqplocks.tokens;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenAudit;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LossReason.Cause;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.Tokens;
import io.amqplocks.test.BrokerVersion;
import io.amqplocks.test.Brokers;
import io.amqplocks.test.OwnedBroker;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Tokens held for longer than the broker lets a message be unacknowledged: those that are verified
 * stay held, since each verification is a delivery anew. Of those that are not the holder is told
 * where the broker takes them back. All cases of all lines wait at the same time, on brokers of
 * their own.
 */
@Tag("trap-9")
@Tag("one-jdk")
@Order(1) // of the longest
class TokenHeldTooLongTest {

  private static final Duration TIMEOUT = Duration.ofSeconds(20);

  /** The broker looks at what is overdue now and then. */
  private static final Duration LATEST = Duration.ofSeconds(60);

  /** More than the timeout; the broker agrees to no heartbeat of more than twice that. */
  private static final Duration SELDOM = Duration.ofSeconds(30);

  private final ExecutorService threads = Executors.newCachedThreadPool();

  private enum Way {
    BY_GET,
    PUSHED
  }

  private record Case(TokenQueueType type, Way way, boolean policy, boolean verified) {

    String name() {
      return type + "-" + way + (verified ? "-verified" : "") + (policy ? "-policy" : "");
    }

    /** Below 3.12 all queues have the node's timeout, from 4.3 on quorum queues alone have one. */
    boolean endsOn(BrokerVersion version) {
      return !verified
          && (!version.isAtLeast(3, 12)
              || (policy && version.isAtLeast(4, 3) && type == TokenQueueType.QUORUM));
    }

    /** 4.3 ends a consumer; who has got the message, is not told. */
    boolean isTold(BrokerVersion version) {
      return !version.isAtLeast(4, 3) || way == Way.PUSHED;
    }
  }

  private record Hold(Case of, AmqpLock lock, Lease lease) {}

  @Test
  void aHolderIsToldOnEveryLine() throws Exception {
    List<String> lines = Brokers.lines().stream().filter(Brokers::has).toList();
    assumeThat(lines).as("RabbitMQ brokers that can be had").isNotEmpty();
    List<Future<?>> runs = new ArrayList<>();
    for (String line : lines) {
      runs.add(
          threads.submit(
              () -> {
                holdForLong(line);
                return null;
              }));
    }
    try {
      for (Future<?> run : runs) {
        run.get(8, TimeUnit.MINUTES);
      }
    } finally {
      threads.shutdownNow();
    }
  }

  private void holdForLong(String line) throws Exception {
    try (OwnedBroker broker = Brokers.start(line);
        Fixture fixture = new Fixture(broker)) {
      BrokerVersion version = broker.version();
      broker.faults().setConsumerTimeout(TIMEOUT);
      if (version.isAtLeast(4, 3)) {
        String policy = "{\"consumer-timeout\":%d}".formatted(TIMEOUT.toMillis());
        broker.faults().setPolicy("timeout", ".*-policy\\.tokens\\..*", "quorum_queues", policy);
      }
      AmqpLocks locks = fixture.open();
      AmqpLocks unverified =
          fixture.open(fixture.builder().heartbeat(SELDOM.multipliedBy(2)).verifyEvery(SELDOM));
      AmqpLocks others = fixture.open();
      List<Hold> holds = new ArrayList<>();
      for (TokenQueueType type : TokenQueueType.values()) {
        for (Way way : Way.values()) {
          for (boolean policy : new boolean[] {false, true}) {
            holds.add(hold(fixture, new Case(type, way, policy, true), locks, others));
            Case unseen = new Case(type, way, policy, false);
            if (!unseen.endsOn(version) || unseen.isTold(version)) {
              holds.add(hold(fixture, unseen, unverified, others));
            }
          }
        }
      }
      long start = System.nanoTime();
      Duration latest = TIMEOUT.plus(LATEST);
      await()
          .pollInterval(Duration.ofMillis(200))
          .atMost(latest.multipliedBy(2))
          .until(
              () ->
                  System.nanoTime() - start > latest.toNanos()
                      || holds.stream()
                          .filter(hold -> hold.of.endsOn(version))
                          .allMatch(hold -> hold.lease.state() == LeaseState.LOST));
      // Those that stay are given the time in which the others went, and a verification more.
      await()
          .pollDelay(Duration.ofSeconds(3))
          .atMost(TIMEOUT.multipliedBy(3))
          .until(() -> System.nanoTime() - start > TIMEOUT.toNanos());
      for (Hold hold : holds) {
        check(hold, version);
        if (hold.of.endsOn(version)) {
          // The token is not lost with the lease, nor there twice.
          assertThat(Tokens.audit(others.admin().tokenSemaphore(hold.of.name())))
              .as(hold.of.toString())
              .isEqualTo(new TokenAudit(1, 1, 0, 0, Set.of(), false));
        }
      }
    }
  }

  private static Hold hold(Fixture fixture, Case of, AmqpLocks locks, AmqpLocks others)
      throws Exception {
    locks.admin().tokenSemaphore(of.name()).create(1, of.type);
    AmqpLock lock = locks.tokenSemaphore(of.name());
    AmqpLock other = others.tokenSemaphore(of.name());
    if (of.way == Way.BY_GET) {
      return new Hold(of, other, lock.tryAcquire().orElseThrow());
    }
    Lease first = other.tryAcquire().orElseThrow();
    // By a consumer from then on, and the second one is that of who waits.
    await().until(() -> first.verify() == LeaseState.HELD && consumers(fixture, of.name()) == 1);
    CompletableFuture<Lease> pushed = lock.acquireAsync(Duration.ofMinutes(1));
    await().until(() -> consumers(fixture, of.name()) == 2);
    first.close();
    return new Hold(of, other, pushed.get(60, TimeUnit.SECONDS));
  }

  private static int consumers(Fixture fixture, String name) throws Exception {
    return Tokens.consumers(fixture.broker(), fixture.names(), LockId.tokenSemaphore(name));
  }

  private static void check(Hold hold, BrokerVersion version) {
    String what = hold.of + " on RabbitMQ " + version + ", " + hold.lease.lossReason();
    if (!hold.of.endsOn(version)) {
      assertThat(hold.lease.verify()).as(what).isEqualTo(LeaseState.HELD);
      assertThat(hold.lock.tryAcquire()).as(what).isEmpty();
      return;
    }
    assertThat(hold.lease.state()).as(what).isEqualTo(LeaseState.LOST);
    // The end of a consumer has no reason.
    Cause cause = version.isAtLeast(4, 3) ? Cause.REVOKED : Cause.HELD_TOO_LONG;
    assertThat(hold.lease.lossReason())
        .hasValueSatisfying(reason -> assertThat(reason.cause()).as(what).isEqualTo(cause));
    // The broker counts from the delivery, the lease from when it is had: a little later.
    assertThat(hold.lease.age())
        .as(what)
        .isBetween(TIMEOUT.minus(Duration.ofSeconds(8)), TIMEOUT.plus(LATEST));
    hold.lock.tryAcquire().orElseThrow().close();
  }
}
