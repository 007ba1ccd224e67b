package io.amqplocks.benchmarks.peers;

import com.sun.management.OperatingSystemMXBean;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;

/**
 * A process with one client of each system that it needs. It does what it is told, one line after
 * the other. What it holds is acquired and released by one thread, for some locks belong to a
 * thread.
 */
final class ClientMain {

  /** What it says when it can be told. */
  static final String READY = "ready";

  /** An answer begins with that, and then has the command's result. */
  static final String DONE = "done ";

  /** Or it begins with that, and then says why. */
  static final String FAILED = "failed ";

  /**
   * Lets threads contend: CONTEND KIND LOCK THREADS MILLIS. The result has the words of a {@link
   * Work}.
   */
  static final String CONTEND = "contend";

  /** Acquires all slots and keeps them: HOLD KIND LOCK. */
  static final String HOLD = "hold";

  /** Releases one of them. The result is when that began, by {@link System#nanoTime}. */
  static final String RELEASE = "release";

  /** Releases all that are left. */
  static final String END = "end";

  /**
   * Says {@link #WAITING}, waits for a slot, and releases it: TAKE KIND LOCK. The result is when it
   * had it.
   */
  static final String TAKE = "take";

  /** It is about to wait. */
  static final String WAITING = "waiting";

  private static final OperatingSystemMXBean SYSTEM =
      ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);

  private final Map<Peer, String> addresses = new EnumMap<>(Peer.class);
  private final Map<Peer, PeerClient> clients = new EnumMap<>(Peer.class);
  private final Deque<AutoCloseable> held = new ArrayDeque<>();

  private ClientMain() {}

  /**
   * Answers each line.
   *
   * @param args a peer, the address of its server, another peer, and so on
   */
  public static void main(String[] args) throws Exception {
    ClientMain process = new ClientMain();
    for (int i = 0; i < args.length; i += 2) {
      process.addresses.put(Peer.valueOf(args[i]), args[i + 1]);
    }
    BufferedReader input =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    System.out.println(READY);
    for (String line = input.readLine(); line != null; line = input.readLine()) {
      System.out.println(process.answer(line.split(" ", -1)));
    }
    // Not all clients end their threads.
    System.exit(0);
  }

  private String answer(String[] words) {
    try {
      return DONE
          + switch (words[0]) {
            case CONTEND -> contend(words).words();
            case HOLD -> hold(words);
            case RELEASE -> release();
            case END -> end();
            case TAKE -> take(words);
            default -> throw new IllegalArgumentException("Not a command: " + words[0]);
          };
    } catch (Exception e) {
      Throwable cause = e instanceof ExecutionException && e.getCause() != null ? e.getCause() : e;
      return FAILED + cause.toString().replaceAll("\\s+", " ");
    }
  }

  private PeerLock lock(String[] words) throws Exception {
    Kind kind = Kind.valueOf(words[1]);
    Peer peer = kind.peer();
    PeerClient client = clients.get(peer);
    if (client == null) {
      client =
          peer.connect(Objects.requireNonNull(addresses.get(peer), "no server of " + peer.title()));
      clients.put(peer, client);
    }
    return client.lock(kind, words[2]);
  }

  private Work contend(String[] words) throws Exception {
    List<PeerLock> locks = new ArrayList<>();
    while (locks.size() < Integer.parseInt(words[3])) {
      locks.add(lock(words));
    }
    long start = SYSTEM.getProcessCpuTime();
    Contest contest = Contest.of(locks, Duration.ofMillis(Long.parseLong(words[4])));
    Duration cpu = Duration.ofNanos(SYSTEM.getProcessCpuTime() - start);
    return new Work(contest.inTime().size(), contest.sum(), contest.leases(), cpu);
  }

  private String hold(String[] words) throws Exception {
    if (!held.isEmpty()) {
      throw new IllegalStateException("It holds %d of another lock".formatted(held.size()));
    }
    PeerLock lock = lock(words);
    while (held.size() < Kind.valueOf(words[1]).slots()) {
      held.add(lock.acquire());
    }
    return Integer.toString(held.size());
  }

  private String release() throws Exception {
    AutoCloseable lease = held.remove();
    long start = System.nanoTime();
    lease.close();
    return Long.toString(start);
  }

  private String end() throws Exception {
    int left = held.size();
    while (!held.isEmpty()) {
      held.remove().close();
    }
    return Integer.toString(left);
  }

  private String take(String[] words) throws Exception {
    PeerLock lock = lock(words);
    System.out.println(WAITING);
    try (AutoCloseable lease = lock.acquire()) {
      return Long.toString(System.nanoTime());
    }
  }
}
