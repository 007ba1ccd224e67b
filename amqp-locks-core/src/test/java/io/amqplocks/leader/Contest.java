package io.amqplocks.leader;

import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.FencingToken;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.LockSupport;

/**
 * Elections of one leader in this JVM, each with a number, and every term that one of them had.
 *
 * <p>A thread asks all of them again and again whether they lead. It notes of each term when the
 * first look that saw it had ended, and when the last one began: the term was certain at both times
 * or between them, however long the machine stalls between two looks. A term that no look sees is
 * noted when its listener is notified.
 */
final class Contest implements AutoCloseable {

  private static final long PAUSE_NANOS = 1_000_000;
  private static final Duration YIELD_PAUSE = Duration.ofMillis(500);

  /**
   * One term.
   *
   * @param token its fencing token; 0 if it has none
   * @param from it was granted before that, in {@link System#nanoTime()}
   * @param until it was certain then or later
   */
  record Term(int number, long token, long from, long until) {
    double seconds(long since) {
      return (from - since) / 1e9;
    }
  }

  /** Two terms of which the second was granted while the first was certain. */
  record Overlap(Term one, Term other) {
    long nanos() {
      return Math.min(one.until(), other.until()) - other.from();
    }
  }

  private final String name;
  private final SortedMap<Integer, LeaderElection> elections = new TreeMap<>();
  private final Map<Leadership, Term> terms = new ConcurrentHashMap<>();
  private final List<String> revokedEarly = new CopyOnWriteArrayList<>();
  private final Thread looking;
  private volatile boolean closed;

  /** Starts an election by each of the locks, which are numbered. */
  Contest(String name, SortedMap<Integer, AmqpLock> locks) {
    this.name = name;
    locks.forEach(
        (number, lock) ->
            elections.put(
                number,
                LeaderElection.on(lock)
                    .listener(new Noting(number))
                    .yieldPause(YIELD_PAUSE)
                    .build()));
    elections.values().forEach(LeaderElection::start);
    looking = new Thread(this::look, "looks who leads by " + name);
    looking.setDaemon(true);
    looking.start();
  }

  private final class Noting implements LeaderListener {
    private final int number;

    Noting(int number) {
      this.number = number;
    }

    @Override
    public void granted(Leadership leadership) {
      long now = System.nanoTime();
      terms.putIfAbsent(leadership, new Term(number, token(leadership), now, now));
    }

    @Override
    public void revoked(Leadership leadership, Revocation revocation) {
      if (leadership.isCurrent()) {
        revokedEarly.add("node " + number + ": " + leadership + ", " + revocation);
      }
    }
  }

  private static long token(Leadership leadership) {
    return leadership.fencingToken().map(FencingToken::number).orElse(0L);
  }

  private void look() {
    while (!closed) {
      elections.forEach(this::look);
      LockSupport.parkNanos(PAUSE_NANOS);
    }
  }

  private void look(int number, LeaderElection election) {
    long before = System.nanoTime();
    Leadership led = election.leadership().orElse(null);
    if (led == null) {
      return;
    }
    long after = System.nanoTime();
    terms.compute(
        led,
        (unused, noted) ->
            noted == null
                ? new Term(number, token(led), after, after)
                : new Term(number, noted.token(), noted.from(), Math.max(noted.until(), before)));
  }

  /** The numbers of those that lead now. */
  List<Integer> leading() {
    List<Integer> result = new ArrayList<>();
    elections.forEach(
        (number, election) -> {
          if (election.isLeader()) {
            result.add(number);
          }
        });
    return result;
  }

  /** Has whoever leads yield. */
  void yieldLeadership() {
    // Not more than one: the next may lead before all are asked.
    boolean unused = elections.values().stream().anyMatch(LeaderElection::yieldLeadership);
  }

  /** In the order in which they were granted. */
  List<Term> terms() {
    return terms.values().stream().sorted(Comparator.comparingLong(Term::from)).toList();
  }

  /** The last term of that one. */
  Optional<Term> lastOf(int number) {
    return terms().stream()
        .filter(each -> each.number() == number)
        .max(Comparator.comparingLong(Term::from));
  }

  /** Terms of different ones that were both certain. */
  List<Overlap> overlaps() {
    List<Overlap> result = new ArrayList<>();
    List<Term> all = terms();
    for (int i = 0; i < all.size(); i++) {
      for (Term later : all.subList(i + 1, all.size())) {
        Overlap both = new Overlap(all.get(i), later);
        if (later.number() != all.get(i).number() && both.nanos() > 0) {
          result.add(both);
        }
      }
    }
    return result;
  }

  /** Terms that were current when their listener was notified of their end. */
  List<String> revokedEarly() {
    return List.copyOf(revokedEarly);
  }

  @Override
  public String toString() {
    return name;
  }

  @Override
  public void close() {
    closed = true;
    elections.values().forEach(LeaderElection::close);
  }
}
