package io.amqplocks.benchmarks.peers;

import io.amqplocks.test.ChildJvm;
import java.io.UncheckedIOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;

/**
 * Processes with one client of each system. One that does not answer is ended, and another takes
 * its place. For one thread.
 */
final class ClientProcesses implements AutoCloseable {

  /** How many contend. */
  static final int COUNT = 4;

  /** How many threads of each contend. */
  static final int THREADS = 4;

  private static final Duration START = Duration.ofMinutes(2);

  /** For an answer: longer than a client waits for a lock. */
  private static final Duration PATIENCE = PeerLock.PATIENCE.multipliedBy(2);

  private final int count;
  private final List<String> arguments = new ArrayList<>();
  private final Map<Integer, ChildJvm> processes = new TreeMap<>();

  /** Returns when so many run. Each connects to a server when it first needs to. */
  static ClientProcesses start(int count, Map<Peer, String> addresses) {
    ClientProcesses started = new ClientProcesses(count, addresses);
    try {
      boolean unused = started.complete();
      return started;
    } catch (RuntimeException | Error e) {
      started.close();
      throw e;
    }
  }

  private ClientProcesses(int count, Map<Peer, String> addresses) {
    this.count = count;
    addresses.forEach((peer, address) -> arguments.addAll(List.of(peer.name(), address)));
  }

  /**
   * Starts others in place of those that were ended.
   *
   * @return whether there were any; the new ones are not warmed up
   */
  boolean complete() {
    Map<Integer, ChildJvm> added = new TreeMap<>();
    for (int i = 0; i < count; i++) {
      if (!processes.containsKey(i)) {
        added.put(
            i,
            ChildJvm.of(ClientMain.class)
                .jvmArgs("-Xmx256m")
                .args(arguments.toArray(String[]::new))
                .start());
      }
    }
    processes.putAll(added);
    added.forEach(
        (number, process) -> {
          try {
            process.awaitLine(ClientMain.READY, START);
          } catch (RuntimeException notStarted) {
            end(number);
            throw notStarted;
          }
        });
    return !added.isEmpty();
  }

  private void end(int number) {
    Objects.requireNonNull(processes.remove(number)).close();
  }

  /** Those that there are now. */
  List<ChildJvm> processes() {
    return List.copyOf(processes.values());
  }

  /**
   * Lets all threads of all processes contend for a lock. To be called after {@link #complete}.
   *
   * @return what each process did
   * @throws IllegalStateException if one of them could not; then too, none is at it any more
   */
  List<Work> contend(Kind kind, String lock, Duration time) {
    String command =
        "%s %s %s %d %d".formatted(ClientMain.CONTEND, kind, lock, THREADS, time.toMillis());
    processes.keySet().forEach(number -> send(number, command));
    List<Work> works = new ArrayList<>();
    List<IllegalStateException> failures = new ArrayList<>();
    for (int number : List.copyOf(processes.keySet())) {
      try {
        works.add(Work.parse(answer(number, time.plus(PATIENCE))));
      } catch (IllegalStateException e) {
        failures.add(e);
      }
    }
    if (!failures.isEmpty()) {
      throw failures.get(0);
    }
    return works;
  }

  /**
   * Lets a process hold the lock and release it while another one waits. To be called after {@link
   * #complete}. All processes of a machine have one clock for {@link System#nanoTime}, on Linux at
   * least. If one of them could not, all are ended.
   *
   * @param wait how long the other one waits before that
   * @return from the beginning of the release to the acquire, in nanoseconds
   * @throws IllegalStateException if one of them could not
   */
  long handOver(Kind kind, String lock, Duration wait) throws InterruptedException {
    boolean done = false;
    try {
      String unused = ask(0, "%s %s %s".formatted(ClientMain.HOLD, kind, lock));
      send(1, "%s %s %s".formatted(ClientMain.TAKE, kind, lock));
      awaitWaiting(1);
      TimeUnit.NANOSECONDS.sleep(wait.toNanos());
      long released = Long.parseLong(ask(0, ClientMain.RELEASE));
      long taken = Long.parseLong(answer(1, PATIENCE));
      done = Integer.parseInt(ask(0, ClientMain.END)) == kind.slots() - 1;
      return taken - released;
    } finally {
      if (!done) {
        // What they still hold, and would still answer, must not meet another kind.
        List.copyOf(processes.keySet()).forEach(this::end);
      }
    }
  }

  private void awaitWaiting(int number) {
    String line =
        Objects.requireNonNull(processes.get(number))
            .awaitLine(
                said -> said.equals(ClientMain.WAITING) || said.startsWith(ClientMain.FAILED),
                PATIENCE);
    if (line.startsWith(ClientMain.FAILED)) {
      throw new IllegalStateException(line.substring(ClientMain.FAILED.length()));
    }
  }

  private String ask(int number, String command) {
    send(number, command);
    return answer(number, PATIENCE);
  }

  private void send(int number, String command) {
    try {
      Objects.requireNonNull(processes.get(number)).send(command);
    } catch (UncheckedIOException ended) {
      // That it gives no answer will say so.
    }
  }

  private String answer(int number, Duration patience) {
    ChildJvm process = Objects.requireNonNull(processes.get(number));
    String answer;
    try {
      answer =
          process.awaitLine(
              line -> line.startsWith(ClientMain.DONE) || line.startsWith(ClientMain.FAILED),
              patience);
    } catch (IllegalStateException none) {
      end(number);
      throw new IllegalStateException("A process did not answer: " + none.getMessage(), none);
    }
    if (answer.startsWith(ClientMain.FAILED)) {
      throw new IllegalStateException(answer.substring(ClientMain.FAILED.length()));
    }
    return answer.substring(ClientMain.DONE.length());
  }

  @Override
  public void close() {
    processes.values().forEach(ChildJvm::close);
  }
}
