package io.amqplocks.benchmarks.peers;

import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Of what there is more and more, while it is measured what one operation takes. */
enum Growth {
  /** Acquire and release of one slot of a semaphore, all slots of which are free. */
  SLOTS("growth, 1 to 1,000 slots", "acquire + release"),
  /** Acquire and release of one more lock, while the process holds so many others. */
  LOCKS("growth, 1 to 10,000 locks held", "acquire + release"),
  /** From the release to the acquire of the next of so many waiters. */
  WAITERS("growth, 1 to 1,000 waiters", "hand-over");

  private static final int ROUNDS = 5;

  private final String title;
  private final String operation;

  Growth(String title, String operation) {
    this.title = title;
    this.operation = operation;
  }

  String title() {
    return title;
  }

  /** What is timed. */
  String operation() {
    return operation;
  }

  /** How many there are, one after the other. The largest ones are left out of a quick run. */
  List<Integer> sizes(boolean quick) {
    List<Integer> sizes = this == LOCKS ? List.of(1, 100, 10_000) : List.of(1, 10, 100, 1_000);
    return quick ? sizes.subList(0, 2) : sizes;
  }

  /** What one kind does. */
  private Growing.Subject subject(Systems systems, Kind kind) {
    return switch (this) {
      case SLOTS -> new SlotsSubject(systems.client(kind.peer(), 0), kind);
      case LOCKS -> new LocksSubject(systems, kind);
      case WAITERS -> new WaitersSubject(systems, kind);
    };
  }

  /** Measures it with these kinds, all of which it suits; who fails is added to the failures. */
  List<Grown> measure(Systems systems, List<Kind> kinds, boolean quick, List<String> failures) {
    Map<Kind, Growing.Subject> subjects = new LinkedHashMap<>();
    kinds.forEach(kind -> subjects.put(kind, subject(systems, kind)));
    Growing growing =
        new Growing(
            this,
            quick ? limit().dividedBy(6) : limit(),
            System::nanoTime,
            (kind, failure) -> failures.add(title + ", " + kind.titleOfAnySize() + ": " + failure));
    return growing.measure(subjects, sizes(quick), quick ? 1 : warmUps(), quick ? 2 : ROUNDS);
  }

  /** Of each kind at each size; a sixth of it in a quick run. Locks are acquired one by one. */
  Duration limit() {
    return Duration.ofSeconds(this == LOCKS ? 120 : 60);
  }

  /** One of waiters takes as long as many of the others. */
  private int warmUps() {
    return this == WAITERS ? 3 : 50;
  }

  /** Whether there can be so many with a kind that it suits. */
  boolean fits(Kind kind, int size) {
    // Each waiter has a connection.
    return kind != Kind.ADVISORY_LOCK || size < PostgresqlServer.CONNECTIONS;
  }

  /** Whether it can be measured with that kind, and says something about it. */
  boolean suits(Kind kind) {
    return switch (this) {
      case SLOTS -> kind.slots() > 1 && !kind.isVariant();
      case LOCKS ->
          switch (kind) {
            // Locks of other systems than these end after a time to live, before all are held, or
            // need a connection each. The queues of our other kinds stay.
            case MUTEX, R_LOCK, R_FAIR_LOCK, INTER_PROCESS_MUTEX, JETCD_LOCK -> true;
            default -> false;
          };
      case WAITERS ->
          kind.slots() == 1 && kind.isWaitedFor() && !kind.isVariant() && !kind.isKept();
    };
  }
}
