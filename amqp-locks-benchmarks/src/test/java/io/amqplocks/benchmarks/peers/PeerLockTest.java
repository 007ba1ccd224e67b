package io.amqplocks.benchmarks.peers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.abort;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import io.amqplocks.AmqpLocks;
import io.amqplocks.benchmarks.Lab;
import io.amqplocks.internal.broker.FenceCounter;
import io.amqplocks.internal.broker.QueueNames;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockId;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Each kind of lock that is measured is one. */
@Tag("one-jdk")
@ResourceLock("all processors") // since it starts a server of each peer
class PeerLockTest {

  private static final Duration SHORT = Duration.ofMillis(300);

  @ParameterizedTest
  @EnumSource(Peer.class)
  void excludesWhoComesTooLateAndAdmitsHimAfterARelease(Peer peer) throws Exception {
    try (PeerServer server = start(peer);
        PeerClient one = peer.connect(server.address());
        PeerClient other = peer.connect(server.address())) {
      assertThat(server.version()).matches(".*\\d+\\.\\d+.*");
      for (Kind kind : Kind.of(peer)) {
        String name = Scenario.ALONE.lock();
        if (!kind.isGuardedCall()) {
          excludes(one.lock(kind, name), other.lock(kind, name), kind);
        }
      }
    }
  }

  /** Ours in another way: they wait for the lock of their name, or draw from its counters. */
  @Test
  void variantsAreAcquiredAsTheirNamesSay() throws Exception {
    String scenarios = Scenario.ALONE.lock();
    try (PeerServer server = start(Peer.AMQP_LOCKS);
        AmqpLocks locks = locks(server.address());
        PeerClient client = Peer.AMQP_LOCKS.connect(server.address())) {
      waitsFor(
          locks.mutex(AmqpLocksPeer.name(Kind.MUTEX_ANNOTATED, scenarios)),
          1,
          client.lock(Kind.MUTEX_ANNOTATED, scenarios));
      waitsFor(
          locks.tokenSemaphore(AmqpLocksPeer.name(Kind.CLASSIC_TOKENS_ANNOTATED, scenarios)),
          Kind.CLASSIC_TOKENS_ANNOTATED.slots(),
          client.lock(Kind.CLASSIC_TOKENS_ANNOTATED, scenarios));
      for (Kind kind :
          List.of(Kind.MUTEX_FENCED, Kind.PERSISTENT_MUTEX_FENCED, Kind.SLOT_SEMAPHORE_FENCED)) {
        assertThat(counters(server.address(), kind)).as("%s", kind).isZero();
        client.lock(kind, scenarios).acquire().close();
        assertThat(counters(server.address(), kind)).as("%s", kind).isEqualTo(1);
      }
    }
  }

  private static AmqpLocks locks(String address) throws Exception {
    String[] uriAndPrefix = address.split("#", 2);
    return AmqpLocks.builder(Lab.factory(uriAndPrefix[0])).queuePrefix(uriAndPrefix[1]).build();
  }

  private static void waitsFor(AmqpLock lock, int slots, PeerLock calls) throws Exception {
    calls.acquire().close();
    List<Lease> leases = new ArrayList<>();
    for (int i = 0; i < slots; i++) {
      leases.add(lock.acquire(PeerLock.PATIENCE));
    }
    FutureTask<Boolean> call = new FutureTask<>(() -> calls.acquire(Duration.ZERO).isPresent());
    new Thread(call, "annotated").start();
    assertThatThrownBy(() -> call.get(SHORT.toMillis(), TimeUnit.MILLISECONDS))
        .isInstanceOf(TimeoutException.class);
    leases.forEach(Lease::close);
    assertThat(call.get(60, TimeUnit.SECONDS)).isTrue();
  }

  /** How many slots of the lock have given a fencing token. */
  private static int counters(String address, Kind kind) throws Exception {
    String[] uriAndPrefix = address.split("#", 2);
    String name = AmqpLocksPeer.name(kind, Scenario.ALONE.lock());
    LockId lock =
        switch (kind) {
          case MUTEX_FENCED -> LockId.mutex(name);
          case PERSISTENT_MUTEX_FENCED -> LockId.persistentMutex(name);
          default -> LockId.slotSemaphore(name);
        };
    int counters = 0;
    try (Connection connection = Lab.factory(uriAndPrefix[0]).newConnection()) {
      for (int slot = 1; slot <= kind.slots(); slot++) {
        String queue = new QueueNames(uriAndPrefix[1]).counter(FenceCounter.of(lock, slot), 1);
        // A queue that is missing closes the channel, so each look has one of its own.
        Channel channel = connection.createChannel();
        try {
          var unused = channel.queueDeclarePassive(queue);
          counters++;
        } catch (IOException none) {
          assertThat(none).hasStackTraceContaining("NOT_FOUND");
        }
      }
    }
    return counters;
  }

  private static void excludes(PeerLock one, PeerLock other, Kind kind) throws Exception {
    List<AutoCloseable> leases = new ArrayList<>();
    for (int i = 0; i < kind.slots(); i++) {
      leases.add(one.acquire());
    }
    assertThat(other.acquire(Duration.ZERO)).as("%s is held", kind).isEmpty();
    assertThat(other.acquire(SHORT)).as("%s is still held", kind).isEmpty();
    AutoCloseable first = leases.remove(0);
    assertThat(isHeld(first)).as("%s says that it is held", kind).isNotEqualTo(Optional.of(false));
    first.close();
    assertThat(isHeld(first)).as("%s after a release", kind).isNotEqualTo(Optional.of(true));
    Optional<AutoCloseable> admitted = other.acquire(PeerLock.PATIENCE);
    assertThat(admitted).as("%s after a release", kind).isPresent();
    admitted.orElseThrow().close();
    for (AutoCloseable lease : leases) {
      lease.close();
    }
  }

  /** Empty if it cannot be asked. */
  private static Optional<Boolean> isHeld(AutoCloseable lease) {
    if (lease instanceof VerifiableLease verifiable) {
      try {
        return Optional.of(verifiable.isHeld());
      } catch (Exception notHeld) {
        return Optional.of(false);
      }
    }
    return Optional.empty();
  }

  /** Aborts the test if it is not installed. */
  static PeerServer start(Peer peer) throws Exception {
    try {
      return peer.start(null);
    } catch (NotInstalledException e) {
      return abort(String.valueOf(e.getMessage()));
    }
  }
}
