package io.amqplocks.benchmarks.peers;

import io.amqplocks.test.FreePorts;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.apache.curator.framework.CuratorFramework;
import org.apache.curator.framework.CuratorFrameworkFactory;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.apache.curator.framework.recipes.locks.InterProcessSemaphoreV2;
import org.apache.curator.framework.recipes.locks.Lease;
import org.apache.curator.retry.ExponentialBackoffRetry;
import org.apache.zookeeper.CreateMode;

/**
 * Curator with its default time-outs, on one ZooKeeper in a JVM of its own, with the settings of
 * ZooKeeper's sample configuration: it writes each change to the disk before it answers.
 */
final class CuratorPeer {

  /** By name: javac warns of annotations in it that are not on the class path. */
  private static final String SERVER = "org.apache.zookeeper.server.quorum.QuorumPeerMain";

  private CuratorPeer() {}

  static PeerServer start() throws Exception {
    ServerProcess.Folder folder = ServerProcess.folder("zookeeper");
    int port = FreePorts.next();
    Path config =
        Files.writeString(
            folder.path().resolve("zoo.cfg"),
            """
            tickTime=2000
            dataDir=%s
            clientPort=%d
            clientPortAddress=127.0.0.1
            admin.enableServer=false
            """
                .formatted(folder.path(), port));
    ServerProcess process =
        folder.start(
            "TERM",
            List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-cp",
                System.getProperty("java.class.path"),
                SERVER,
                config.toString()));
    process.awaitPort(port);
    return new PeerServer(
        Installed.jar(CreateMode.class).replace("zookeeper-", "ZooKeeper "),
        "127.0.0.1:" + port,
        process);
  }

  static PeerClient connect(String address) throws Exception {
    CuratorFramework curator =
        CuratorFrameworkFactory.newClient(address, new ExponentialBackoffRetry(1_000, 3));
    curator.start();
    // A busy machine takes long.
    if (!curator.blockUntilConnected(90, TimeUnit.SECONDS)) {
      curator.close();
      throw new IllegalStateException("No connection to ZooKeeper");
    }
    return new PeerClient() {
      @Override
      public PeerLock lock(Kind kind, String name) {
        String path = "/" + name + "-" + kind;
        return switch (kind) {
          case INTER_PROCESS_MUTEX -> of(new InterProcessMutex(curator, path));
          case INTER_PROCESS_SEMAPHORE_V2 ->
              of(new InterProcessSemaphoreV2(curator, path, kind.slots()));
          default -> throw new IllegalArgumentException("Not Curator's: " + kind);
        };
      }

      @Override
      public Semaphore semaphore(Kind kind, String name, int slots) {
        String path = "/" + name + "-" + kind;
        return new Semaphore(of(new InterProcessSemaphoreV2(curator, path, slots)), () -> {});
      }

      @Override
      public void close() {
        curator.close();
      }
    };
  }

  private static PeerLock of(InterProcessMutex mutex) {
    return wait ->
        mutex.acquire(wait.toMillis(), TimeUnit.MILLISECONDS)
            ? Optional.of(mutex::release)
            : Optional.empty();
  }

  private static PeerLock of(InterProcessSemaphoreV2 semaphore) {
    return wait -> {
      Lease lease = semaphore.acquire(wait.toMillis(), TimeUnit.MILLISECONDS);
      return lease == null
          ? Optional.empty()
          : Optional.of(
              new VerifiableLease(
                  // It reads the lease's node.
                  () -> lease.getData() != null, () -> semaphore.returnLease(lease)));
    };
  }
}
