package io.amqplocks.benchmarks.peers;

import io.amqplocks.test.FreePorts;
import io.etcd.jetcd.ByteSequence;
import io.etcd.jetcd.Client;
import io.etcd.jetcd.lease.LeaseKeepAliveResponse;
import io.grpc.stub.StreamObserver;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * jetcd's lock, on one etcd. A lease cannot exclude itself, so each holder or waiter needs one; a
 * client keeps those that are free alive and uses them again.
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
    leases.free.add(leases.grant());
    return leases;
  }

  /** The leases of one client. */
  private static final class Leases implements PeerClient {
    private final Client client;
    private final Queue<Long> free = new ConcurrentLinkedQueue<>();

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
      Long kept = free.poll();
      long lease = kept == null ? grant() : kept;
      var reply = client.getLockClient().lock(name, lease);
      try {
        ByteSequence key = reply.get(wait.toMillis(), TimeUnit.MILLISECONDS).getKey();
        return Optional.of(new VerifiableLease(() -> exists(key), () -> release(key, lease)));
      } catch (TimeoutException busy) {
        // Its end removes what the request has left, or may still do; so it is not used again.
        CompletableFuture<?> unused = client.getLeaseClient().revoke(lease);
        return Optional.empty();
      }
    }

    /** The key is there as long as the lock is held. */
    private boolean exists(ByteSequence key) throws Exception {
      return client.getKVClient().get(key).get(30, TimeUnit.SECONDS).getCount() > 0;
    }

    private void release(ByteSequence key, long lease) throws Exception {
      client.getLockClient().unlock(key).get(30, TimeUnit.SECONDS);
      free.add(lease);
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
