package io.amqplocks.prover.run;

import io.amqplocks.prover.driver.Load;
import io.amqplocks.prover.driver.LockRef;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.IntSummaryStatistics;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * What happens in one round, chosen at random from a seed. The same seed gives the same plan. What
 * comes of it depends on the machine.
 *
 * @param seed the seed
 * @param clients how many client processes there are
 * @param locks the locks, with their slots
 * @param work who works under which lock
 * @param resizes how numbers of slots are changed
 * @param harms what is done, and when
 * @param length how long clients begin new work
 */
// More than 300 lines: all that a seed decides is in one place.
record Plan(
    long seed,
    int clients,
    List<Slots> locks,
    List<Work> work,
    List<Resize> resizes,
    List<Harm> harms,
    Duration length) {

  /** After this time without a sign of life, the broker frees what a client holds. */
  static final Duration HEARTBEAT = Duration.ofSeconds(1);

  /** The same, where a loss that a client should be told of must not be found at once instead. */
  private static final Duration LONG_HEARTBEAT = Duration.ofSeconds(6);

  /** By how much an answer comes too late: more than a call timeout, which is a heartbeat. */
  static final Duration LATENESS = HEARTBEAT.plusMillis(100);

  /** So long a silence shows whether clients are certain for too long. */
  static final Duration LONG_SILENCE = Duration.ofMillis(2_400);

  /** From this length on, a silence is made a {@link #LONG_SILENCE}. */
  private static final Duration SHORT_SILENCE = Duration.ofMillis(800);

  /** While these last, a client's own clock must tell it that its leases are uncertain. */
  private static final Set<FaultKind> SILENCES =
      EnumSet.of(
          FaultKind.DEAF,
          FaultKind.MUTE,
          FaultKind.PARTITION,
          FaultKind.HALF_CUT,
          FaultKind.BROKER_STOP);

  /** Of a {@link Random} of its own, so that a seed has the same plan otherwise. */
  private static final long LONG_HOLDERS = 0x10_46_0D;

  /** Of another {@link Random}, for the same reason. */
  private static final long ROOMY = 0x20_0F_1E;

  /** The first and the last draw their fencing tokens from the same counter (docs/PROTOCOL.md). */
  static final List<String> KEYS = List.of("keyed:1", "keyed:2", "keyed:11");

  /** Of each kind one on a quorum queue and one on a classic queue. */
  private static final List<LockRef> CONSUMERS =
      List.of(
          new LockRef(LockRef.Kind.SOLE_CONSUMER, "sole-1"),
          new LockRef(LockRef.Kind.SOLE_CONSUMER, "sole-2"),
          new LockRef(LockRef.Kind.FENCED_SOLE_CONSUMER, "fenced-1"),
          new LockRef(LockRef.Kind.FENCED_SOLE_CONSUMER, "fenced-2"),
          new LockRef(LockRef.Kind.ACTIVE_QUEUE, "active-1"),
          new LockRef(LockRef.Kind.ACTIVE_QUEUE, "active-2"));

  private static final Set<FaultKind> TAKES_LONG =
      EnumSet.of(FaultKind.BROKER_KILL, FaultKind.BROKER_STOP);

  /**
   * A lock.
   *
   * @param lock its name
   * @param count how many slots it has at the beginning
   */
  record Slots(LockRef lock, int count) {}

  /**
   * One thread of a client.
   *
   * @param client which client
   * @param lock the lock
   * @param load what it does
   */
  record Work(int client, LockRef lock, Load load) {}

  /**
   * A change of the number of slots. All changes of a lock are made by the same client.
   *
   * @param client which client
   * @param lock the semaphore
   * @param slots how many slots it has from then on
   * @param begin when, since the beginning of the round; later if the change before takes longer
   */
  record Resize(int client, LockRef lock, int slots, Duration begin) {}

  /**
   * Something that is done.
   *
   * @param what what it is
   * @param client to which client; without meaning if it is done to the broker
   * @param begin when, since the beginning of the round
   * @param length how long it lasts, if it lasts
   */
  record Harm(FaultKind what, int client, Duration begin, Duration length) {

    private boolean isLongSilence() {
      return SILENCES.contains(what) && length.compareTo(LONG_SILENCE) >= 0;
    }
  }

  /**
   * A plan with that fault, or without any.
   *
   * @param fault the fault that is sure to happen; empty for none at all
   */
  static Plan of(long seed, List<FaultKind> fault, Duration length) {
    Random random = new Random(seed);
    int clients = 2 + random.nextInt(2);
    List<Slots> locks = new ArrayList<>();
    List<Work> work = new ArrayList<>();
    for (LockRef lock : consumes(seed) ? CONSUMERS : chosenLocks(random)) {
      LockRef.Kind kind = lock.kind();
      int count = kind.isSemaphore() ? 1 + random.nextInt(4) : 1;
      locks.add(new Slots(lock, count));
      boolean fenced = random.nextBoolean();
      for (int client = 0; client < clients; client++) {
        int threads = threads(random, kind);
        for (int thread = 0; thread < threads; thread++) {
          Load load = load(random, kind, count, fenced);
          if (kind == LockRef.Kind.READ_WRITE_LOCK) {
            load = side(random, load, thread == 0 ? client : -1);
          } else if (kind.consumes()) {
            load = consuming(load);
          }
          work.add(new Work(client, lock, load));
        }
      }
    }
    List<Harm> harms = new ArrayList<>();
    for (FaultKind what : fault) {
      harms.add(harm(random, what, clients, length));
      if (!TAKES_LONG.contains(what) && random.nextBoolean()) {
        harms.add(harm(random, what, clients, length));
      }
    }
    List<Resize> resizes = new ArrayList<>();
    for (Slots each : locks) {
      if (each.lock().kind().isSemaphore() && random.nextInt(3) == 0) {
        resizes.addAll(storm(random, each.lock(), clients, length));
      }
    }
    List<Work> longer = longer(seed, work, harms);
    return new Plan(seed, clients, roomy(seed, locks, work), longer, resizes, harms, length);
  }

  /**
   * One semaphore in four has as many slots as all its threads want, and some more for one whose
   * last lease is still on its way back: nobody ever has to wait.
   */
  private static List<Slots> roomy(long seed, List<Slots> locks, List<Work> work) {
    Random random = new Random(seed ^ ROOMY);
    return locks.stream()
        .map(
            each -> {
              boolean isRoomy = each.lock().kind().isSemaphore() && random.nextInt(4) == 0;
              return isRoomy ? new Slots(each.lock(), wanted(each.lock(), work)) : each;
            })
        .toList();
  }

  private static int wanted(LockRef lock, List<Work> work) {
    IntSummaryStatistics permits =
        work.stream()
            .filter(each -> each.lock().equals(lock))
            .mapToInt(each -> each.load().permits())
            .summaryStatistics();
    return (int) permits.getSum() + permits.getMax();
  }

  /** Whether sole consumers work in the round of that seed, and nobody else. One in three does. */
  static boolean consumes(long seed) {
    return Math.floorMod(seed, 3) == 0;
  }

  /**
   * The first seed, from that one on, of a round in which the faults find something to harm. If no
   * round has that for all of them, it is for the last one that is particular.
   *
   * @param faults empty for a round without any
   */
  static long seedFor(long seed, List<FaultKind> faults) {
    long result = seed;
    for (FaultKind fault : faults) {
      while (consumes(result) ? fault.onlyForOthers() : fault.onlyForConsumers()) {
        result++;
      }
    }
    return result;
  }

  /** The heartbeat of clients. Leases are verified twice in that time. */
  Duration heartbeat() {
    boolean onlyDeletes =
        !harms.isEmpty() && harms.stream().allMatch(harm -> harm.what() == FaultKind.QUEUE_DELETE);
    return onlyDeletes && !consumes(seed) ? LONG_HEARTBEAT : HEARTBEAT;
  }

  /** Whether the number of slots of a lock changes. */
  boolean isResized(LockRef lock) {
    return resizes.stream().anyMatch(each -> each.lock().equals(lock));
  }

  /** What to tell {@code bin/prove --round} for the same plan. */
  String command() {
    return harms.isEmpty()
        ? Long.toString(seed)
        : seed
            + ":"
            + String.join(",", harms.stream().map(harm -> harm.what().name()).distinct().toList());
  }

  /** Without consumers: one lock of each kind, and one with each key, all of one kind. */
  private static List<LockRef> chosenLocks(Random random) {
    List<LockRef.Kind> kinds =
        Arrays.stream(LockRef.Kind.values()).filter(kind -> !kind.consumes()).toList();
    List<LockRef> result = new ArrayList<>();
    for (LockRef.Kind kind : kinds) {
      result.add(new LockRef(kind, kind.name().toLowerCase(Locale.ROOT)));
    }
    LockRef.Kind keyed = kinds.get(random.nextInt(kinds.size()));
    KEYS.forEach(name -> result.add(new LockRef(keyed, name)));
    return result;
  }

  private static Load load(Random random, LockRef.Kind kind, int slots, boolean fenced) {
    int permits =
        kind.isSemaphore() && slots > 1 && random.nextInt(4) == 0 ? 1 + random.nextInt(slots) : 1;
    long wait = random.nextInt(4) == 0 ? 0 : 5_000;
    long hold = random.nextBoolean() ? random.nextInt(2_000) : random.nextInt(60_000);
    if (random.nextInt(8) == 0) {
      // Whoever does not hold for long cannot be wrong for long.
      hold = 1_000_000L + random.nextInt(2_500_000);
    }
    long pause = random.nextInt(3) == 0 ? random.nextInt(20_000) : random.nextInt(500);
    boolean canBeFenced = kind != LockRef.Kind.CLASSIC_TOKENS;
    return new Load(
        permits, fenced && canBeFenced, false, wait, hold, Math.max(pause, wait == 0 ? 2_000 : 0));
  }

  /**
   * The same, but in a client that is cut off for long, some hold for long: whoever is between two
   * leases then shows nothing. The first thread of every second lock does, and all consumers do. If
   * queues are deleted, all threads of every second lock do, for the next holder counts as well.
   */
  private static List<Work> longer(long seed, List<Work> work, List<Harm> harms) {
    Random random = new Random(seed ^ LONG_HOLDERS);
    Set<Integer> cutOff =
        harms.stream().filter(Harm::isLongSilence).map(Harm::client).collect(Collectors.toSet());
    Set<LockRef> contended =
        harms.stream().anyMatch(harm -> harm.what() == FaultKind.QUEUE_DELETE)
            ? contended(random, work)
            : Set.of();
    Set<List<Object>> seen = new HashSet<>();
    List<Work> result = new ArrayList<>();
    for (Work each : work) {
      boolean isFirst =
          cutOff.contains(each.client()) && seen.add(List.of(each.client(), each.lock()));
      boolean isLonger =
          contended.contains(each.lock())
              || (isFirst && (each.lock().kind().consumes() || random.nextBoolean()));
      result.add(
          isLonger
              ? new Work(
                  each.client(),
                  each.lock(),
                  each.load().holding(3_000_000L + random.nextInt(3_000_000)))
              : each);
    }
    return result;
  }

  private static Set<LockRef> contended(Random random, List<Work> work) {
    return work.stream()
        .map(Work::lock)
        .distinct()
        .filter(lock -> !lock.kind().consumes())
        .filter(lock -> random.nextBoolean())
        .collect(Collectors.toSet());
  }

  /** More, where several of them may hold at once. */
  private static int threads(Random random, LockRef.Kind kind) {
    if (kind.consumes()) {
      return 1;
    }
    return kind == LockRef.Kind.READ_WRITE_LOCK
        ? 2 + random.nextInt(2)
        : 1 + random.nextInt(kind.isSemaphore() ? 3 : 2);
  }

  /**
   * The same for one side of a read-write lock. Of the readers and the writers of a lock with
   * fencing tokens, some do without: these stand in a line of their own.
   *
   * @param first the client of which it is the first thread, or -1. Client 0 has a writer and
   *     client 1 a reader, and for others there are two readers for each writer
   */
  private static Load side(Random random, Load load, int first) {
    boolean needsToken = random.nextInt(4) > 0;
    boolean reads = first == 1 || (first != 0 && random.nextInt(3) > 0);
    return new Load(
        load.permits(),
        load.fenced() && needsToken,
        reads,
        load.waitMillis(),
        load.holdMicros(),
        load.pauseMicros());
  }

  /** The same, but active for ten times as long, so that some messages are handled in each term. */
  private static Load consuming(Load load) {
    long active =
        load.holdMicros() < 1_000_000 ? 100_000 + load.holdMicros() * 10 : load.holdMicros();
    return new Load(1, load.fenced(), false, load.waitMillis(), active, load.pauseMicros());
  }

  /** Some changes follow at once on another one, and some leave it the time to be seen. */
  private static List<Resize> storm(Random random, LockRef lock, int clients, Duration length) {
    List<Resize> result = new ArrayList<>();
    int client = random.nextInt(clients);
    long begin = 200;
    while (begin < length.toMillis()) {
      result.add(new Resize(client, lock, 1 + random.nextInt(5), Duration.ofMillis(begin)));
      begin += random.nextInt(3) == 0 ? 1_500 : random.nextInt(300);
    }
    return result;
  }

  /**
   * It begins in the first half, and lasts from far less than a heartbeat to many of them. A
   * silence that would end when clients are just about to be uncertain lasts longer.
   */
  private static Harm harm(Random random, FaultKind what, int clients, Duration length) {
    long begin = 300L + random.nextInt((int) (length.toMillis() / 2));
    long lasts =
        random.nextBoolean() ? 200L + random.nextInt(1_500) : 1_500L + random.nextInt(4_000);
    Duration most = Duration.ofMillis(lasts);
    if (what == FaultKind.LATE) {
      // With a longer silence the connection would end, and with it what came too late.
      most = Duration.ofMillis(400 + lasts % 801);
    } else if (SILENCES.contains(what)
        && most.compareTo(SHORT_SILENCE) > 0
        && most.compareTo(LONG_SILENCE) < 0) {
      most = LONG_SILENCE;
    }
    return new Harm(what, random.nextInt(clients), Duration.ofMillis(begin), most);
  }
}
