package io.amqplocks.benchmarks.peers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeFalse;

import com.rabbitmq.client.Command;
import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.TrafficListener;
import io.amqplocks.benchmarks.Lab;
import io.amqplocks.test.Brokers;
import io.amqplocks.test.OwnedBroker;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.options.DeleteOption;
import io.lettuce.core.RedisClient;
import java.nio.charset.StandardCharsets;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.retry.RetryOneTime;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** What is measured as a verification asks the server. */
@ResourceLock("all processors") // since it starts a server of each peer
class VerificationTest {

  private static final String NAME = Scenario.HELD.lock();

  /** Those of the systems below that cannot be asked. */
  private static final Set<Kind> UNASKED = EnumSet.of(Kind.R_SEMAPHORE, Kind.INTER_PROCESS_MUTEX);

  /** A client of ours is told of a loss too, so an answer may be right without a request. */
  @Test
  void ofOursIsARequestToTheBroker() throws Exception {
    assumeFalse(Brokers.lines().isEmpty(), "there is no RabbitMQ");
    AtomicInteger requests = new AtomicInteger();
    try (OwnedBroker broker = Brokers.start()) {
      ConnectionFactory factory = Lab.factory(broker.uri());
      factory.setTrafficListener(counting(requests));
      try (PeerClient client = AmqpLocksPeer.connect(factory, "asked.")) {
        VerifiableLease lease = (VerifiableLease) client.lock(Kind.MUTEX, NAME).acquire();
        int before = requests.get();
        assertThat(lease.isHeld()).isTrue();
        assertThat(requests.get()).isGreaterThan(before);
        broker.faults().deleteQueue("asked.mutex." + NAME);
        assertThat(isHeld(lease)).isFalse();
      }
    }
  }

  @ParameterizedTest
  @EnumSource(names = {"REDISSON", "CURATOR", "JETCD"})
  void saysThatALockIsGoneThatTheServerHasNoMore(Peer peer) throws Exception {
    try (PeerServer server = PeerLockTest.start(peer);
        PeerClient client = peer.connect(server.address())) {
      for (Kind kind : Kind.of(peer)) {
        if (Scenario.HELD.suits(kind) && !UNASKED.contains(kind)) {
          VerifiableLease lease = (VerifiableLease) client.lock(kind, NAME).acquire();
          assertThat(lease.isHeld()).as("%s", kind).isTrue();
          deleteAll(peer, server.address());
          assertThat(isHeld(lease)).as("%s that was deleted", kind).isFalse();
        }
      }
    }
  }

  @Test
  void asksAboutEachLease() throws Exception {
    AtomicInteger asked = new AtomicInteger();
    AutoCloseable held = new VerifiableLease(() -> asked.incrementAndGet() > 0, () -> {});
    AutoCloseable lost = new VerifiableLease(() -> false, () -> {});
    Recorder recorder = new Recorder(Scenario.HELD);
    Held.verify(Kind.MUTEX, List.of(held, () -> {}, held), recorder);
    assertThat(asked).hasValue(2);
    assertThat(recorder.measurements())
        .singleElement()
        .satisfies(each -> assertThat(each.values()).hasSize(2));
    assertThatThrownBy(() -> Held.verify(Kind.MUTEX, List.of(held, lost), recorder))
        .hasMessageContaining("not held any more");
  }

  /** Some clients throw if what the server had of the lock is gone. */
  private static boolean isHeld(VerifiableLease lease) {
    try {
      return lease.isHeld();
    } catch (Exception saysSoToo) {
      return false;
    }
  }

  /** Deletes what the server has of the locks. */
  private static void deleteAll(Peer peer, String address) throws Exception {
    switch (peer) {
      case REDISSON -> {
        try (RedisClient operator = RedisClient.create(address)) {
          operator.connect().sync().flushall();
        }
      }
      case CURATOR -> {
        try (CuratorFramework operator =
            CuratorFrameworkFactory.newClient(address, new RetryOneTime(1_000))) {
          operator.start();
          for (String child : operator.getChildren().forPath("/")) {
            if (child.startsWith(NAME)) {
              operator.delete().deletingChildrenIfNeeded().forPath("/" + child);
            }
          }
        }
      }
      case JETCD -> {
        try (Client operator = Client.builder().endpoints(address).build()) {
          ByteSequence prefix = ByteSequence.from(NAME, StandardCharsets.UTF_8);
          DeleteOption all = DeleteOption.builder().isPrefix(true).build();
          var unused = operator.getKVClient().delete(prefix, all).get(30, TimeUnit.SECONDS);
        }
      }
      default -> throw new IllegalArgumentException("Nothing of it can be asked: " + peer);
    }
  }

  private static TrafficListener counting(AtomicInteger requests) {
    return new TrafficListener() {
      @Override
      public void write(Command outbound) {
        requests.incrementAndGet();
      }

      @Override
      public void read(Command inbound) {}
    };
  }
}
