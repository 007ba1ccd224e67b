package io.amqplocks.benchmarks.peers;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/** The servers that run here, and clients of each. Everything is closed at the end, last first. */
final class Systems implements AutoCloseable {

  /** As many as the scenario that needs most of them. */
  static final int CLIENTS = 8;

  private final Map<Peer, PeerServer> servers = new EnumMap<>(Peer.class);
  private final Map<Peer, String> skipped = new EnumMap<>(Peer.class);
  private final Map<Peer, List<PeerClient>> clients = new EnumMap<>(Peer.class);
  private final Deque<AutoCloseable> opened = new ArrayDeque<>();

  private Systems() {}

  /** Starts these; one that is not installed is skipped. */
  static Systems start(Collection<Peer> peers, @Nullable String line) throws Exception {
    Systems systems = new Systems();
    try {
      systems.addAll(peers, line);
      return systems;
    } catch (Exception | Error e) {
      systems.close();
      throw e;
    }
  }

  /** All at once, for a start is mostly waiting. Who fails does not leave others half started. */
  private void addAll(Collection<Peer> peers, @Nullable String line) throws Exception {
    List<Callable<Peer>> starts = new ArrayList<>();
    for (Peer peer : peers) {
      starts.add(
          () -> {
            add(peer, line);
            return peer;
          });
    }
    ExecutorService starters = Executors.newCachedThreadPool();
    try {
      // Returns when none of them is at it any more.
      for (Future<Peer> start : starters.invokeAll(starts)) {
        Peer unused = start.get();
      }
    } finally {
      starters.shutdown();
    }
  }

  private void add(Peer peer, @Nullable String line) throws Exception {
    try {
      PeerServer server = opening(peer.start(line));
      List<PeerClient> all = new ArrayList<>();
      for (int i = 0; i < CLIENTS; i++) {
        all.add(opening(peer.connect(server.address())));
      }
      synchronized (this) {
        servers.put(peer, server);
        clients.put(peer, all);
      }
    } catch (NotInstalledException e) {
      synchronized (this) {
        skipped.put(peer, String.valueOf(e.getMessage()));
      }
    }
  }

  /** Closes it at the end. */
  private synchronized <T extends AutoCloseable> T opening(T resource) {
    opened.push(resource);
    return resource;
  }

  /** The lock of a scenario, as one of the clients has it. */
  PeerLock lock(Scenario scenario, Kind kind, int client) throws Exception {
    return client(kind.peer(), client).lock(kind, scenario.lock());
  }

  /** One of the clients of a system. */
  PeerClient client(Peer peer, int number) {
    return Objects.requireNonNull(clients.get(peer)).get(number);
  }

  boolean has(Kind kind) {
    return servers.containsKey(kind.peer());
  }

  /** The server of a system that runs. */
  PeerServer server(Peer peer) {
    return Objects.requireNonNull(servers.get(peer), "no server of " + peer.title());
  }

  /** The version of each server that runs. */
  Map<Peer, String> versions() {
    Map<Peer, String> versions = new EnumMap<>(Peer.class);
    servers.forEach((peer, server) -> versions.put(peer, server.version()));
    return versions;
  }

  /** Why others do not run. */
  Map<Peer, String> skipped() {
    return skipped;
  }

  /** What cannot be closed does not keep the rest open. */
  @Override
  public void close() {
    while (!opened.isEmpty()) {
      try {
        opened.pop().close();
      } catch (Exception e) {
        System.err.println("Could not be closed: " + e);
      }
    }
  }
}
