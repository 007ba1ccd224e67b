package io.amqplocks.benchmarks.peers;

import io.amqplocks.test.FreePorts;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.lease.LeaseKeepAliveResponse;
import io.grpc.stub.StreamObserver;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * jetcd's lock, on one etcd. A lease cannot exclude itself, so each holder or waiter of one name
 * needs one of its own. Locks of different names share it. A client keeps its leases alive.
 */
final class JetcdPeer {

  /** The default of {@code etcdctl lock}; jetcd has none. */
  private static final long LEASE_SECONDS = 10;

  /** It cannot ask without waiting. */
  private static final Duration LEAST_WAIT = Duration.ofMillis(200);

  private JetcdPeer() {}

  static PeerServer start() throws Exception {
    String etcd = Installed.command("etcd");
    String version = Installed.version(etcd, "--version");
    ServerProcess.Folder folder = ServerProcess.folder("etcd");
    int port = FreePorts.next();
    String address = "http://127.0.0.1:" + port;
    String peerAddress = "http://127.0.0.1:" + FreePorts.next();
    ServerProcess process =
        folder.start(
            "TERM",
            List.of(
                etcd,
                "--data-dir=" + folder.path().resolve("data"),
                "--listen-client-urls=" + address,
                "--advertise-client-urls=" + address,
                "--listen-peer-urls=" + peerAddress,
                "--initial-advertise-peer-urls=" + peerAddress,
                "--initial-cluster=default=" + peerAddress));
    process.awaitPort(port);
    return new PeerServer("etcd " + version, address, process);
  }

  static PeerClient connect(String address) throws Exception {
    Leases leases = new Leases(Client.builder().endpoints(address).build());
    // It is no part of the first acquire.
    leases.leases.add(new Lease(leases.grant(), new HashSet<>()));
    return leases;
  }

  /** A lease, and the names of the locks that it holds or waits for. */
  private record Lease(long id, Set<ByteSequence> names) {}

  /** The leases of one client. */
  private static final class Leases implements PeerClient {
    private final Client client;
    private final List<Lease> leases = new ArrayList<>();

    Leases(Client client) {
      this.client = client;
    }

    long grant() throws Exception {
      long lease = client.getLeaseClient().grant(LEASE_SECONDS).get(30, TimeUnit.SECONDS).getID();
      client.getLeaseClient().keepAlive(lease, new Silent());
      return lease;
    }

    @Override
    public PeerLock lock(Kind kind, String name) {
      if (kind != Kind.JETCD_LOCK) {
        throw new IllegalArgumentException("Not jetcd's: " + kind);
      }
      ByteSequence key = ByteSequence.from(name, StandardCharsets.UTF_8);
      return wait -> acquire(key, wait.compareTo(LEAST_WAIT) < 0 ? LEAST_WAIT : wait);
    }

    private Optional<AutoCloseable> acquire(ByteSequence name, Duration wait) throws Exception {
      Lease lease = leaseFor(name);
      var reply = client.getLockClient().lock(name, lease.id());
      try {
        ByteSequence key = reply.get(wait.toMillis(), TimeUnit.MILLISECONDS).getKey();
        return Optional.of(new VerifiableLease(() -> exists(key), () -> release(key, lease, name)));
      } catch (TimeoutException busy) {
        giveUp(lease);
        return Optional.empty();
      }
    }

    private Lease leaseFor(ByteSequence name) throws Exception {
      synchronized (leases) {
        for (Lease lease : leases) {
          if (lease.names().add(name)) {
            return lease;
          }
        }
      }
      Lease granted = new Lease(grant(), new HashSet<>(Set.of(name)));
      synchronized (leases) {
        leases.add(granted);
      }
      return granted;
    }

    /**
     * The end of the lease removes what the request has left, or may still do. If it has other
     * locks, it stays, and is not used for that name again.
     */
    private void giveUp(Lease lease) {
      synchronized (leases) {
        if (lease.names().size() > 1) {
          return;
        }
        leases.remove(lease);
      }
      CompletableFuture<?> unused = client.getLeaseClient().revoke(lease.id());
    }

    /** The key is there as long as the lock is held. */
    private boolean exists(ByteSequence key) throws Exception {
      return client.getKVClient().get(key).get(30, TimeUnit.SECONDS).getCount() > 0;
    }

    private void release(ByteSequence key, Lease lease, ByteSequence name) throws Exception {
      client.getLockClient().unlock(key).get(30, TimeUnit.SECONDS);
      synchronized (leases) {
        lease.names().remove(name);
      }
    }

    @Override
    public void close() {
      client.close();
    }
  }

  /** A lease that ends is seen by the request that uses it. */
  private static final class Silent implements StreamObserver<LeaseKeepAliveResponse> {

    @Override
    public void onNext(LeaseKeepAliveResponse response) {}

    @Override
    public void onError(Throwable failure) {}

    @Override
    public void onCompleted() {}
  }
}
