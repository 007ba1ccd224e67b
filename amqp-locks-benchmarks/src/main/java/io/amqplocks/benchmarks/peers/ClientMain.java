package io.amqplocks.benchmarks.peers;

import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;

/** A process with one client of each system that it needs. Its threads want a lock when told to. */
final class ClientMain {

  /** What it says when it can be told. */
  static final String READY = "ready";

  /** An answer begins with that, and then has the words of a {@link Work}. */
  static final String DONE = "done ";

  /** Or it begins with that, and then says why. */
  static final String FAILED = "failed ";

  private static final OperatingSystemMXBean SYSTEM =
      ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

  private ClientMain() {}

  /**
   * Answers each line "KIND LOCK THREADS MILLIS".
   *
   * @param args a peer, the address of its server, another peer, and so on
   */
  public static void main(String[] args) throws Exception {
    Map<Peer, String> addresses = new EnumMap<>(Peer.class);
    for (int i = 0; i < args.length; i += 2) {
      addresses.put(Peer.valueOf(args[i]), args[i + 1]);
    }
    Map<Peer, PeerClient> clients = new EnumMap<>(Peer.class);
    BufferedReader input =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    System.out.println(READY);
    for (String line = input.readLine(); line != null; line = input.readLine()) {
      System.out.println(answer(addresses, clients, line.split(" ", -1)));
    }
    // Not all clients end their threads.
    System.exit(0);
  }

  private static String answer(
      Map<Peer, String> addresses, Map<Peer, PeerClient> clients, String[] words) {
    try {
      Kind kind = Kind.valueOf(words[0]);
      Peer peer = kind.peer();
      PeerClient client = clients.get(peer);
      if (client == null) {
        client =
            peer.connect(
                Objects.requireNonNull(addresses.get(peer), "no server of " + peer.title()));
        clients.put(peer, client);
      }
      List<PeerLock> locks = new ArrayList<>();
      while (locks.size() < Integer.parseInt(words[2])) {
        locks.add(client.lock(kind, words[1]));
      }
      return DONE + contend(locks, Duration.ofMillis(Long.parseLong(words[3]))).words();
    } catch (Exception e) {
      Throwable cause = e instanceof ExecutionException && e.getCause() != null ? e.getCause() : e;
      return FAILED + cause.toString().replaceAll("\\s+", " ");
    }
  }

  private static Work contend(List<PeerLock> locks, Duration time) throws Exception {
    long start = SYSTEM.getProcessCpuTime();
    Contest contest = Contest.of(locks, time);
    Duration cpu = Duration.ofNanos(SYSTEM.getProcessCpuTime() - start);
    return new Work(contest.inTime().size(), contest.sum(), contest.leases(), cpu);
  }
}
