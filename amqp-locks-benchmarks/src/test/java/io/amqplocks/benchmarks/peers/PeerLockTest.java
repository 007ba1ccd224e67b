package io.amqplocks.benchmarks.peers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.abort;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Each kind of lock that is measured is one. */
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
        excludes(one.lock(kind, name), other.lock(kind, name), kind);
      }
    }
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
