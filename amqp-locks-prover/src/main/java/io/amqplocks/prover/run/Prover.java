package io.amqplocks.prover.run;

import io.amqplocks.prover.check.Violation;
import io.amqplocks.test.Broker;
import io.amqplocks.test.Cluster;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.LongStream;

/**
 * Carries out rounds on a broker, one after the other, and has each of them checked. A round with a
 * violation leaves a folder: the history, a page that shows it, and what clients wrote to standard
 * error.
 */
public final class Prover {

  /** How long what should happen in the end may take, on a machine that is busy. */
  private static final Duration PATIENCE = Duration.ofSeconds(60);

  /** A broker may carry out a release 65 s late if a node was lost, and another one behind it. */
  private static final Duration CLUSTER_PATIENCE = Duration.ofSeconds(150);

  /** How long a round is that is for many operations. */
  private static final Duration DENSE = Duration.ofSeconds(20);

  private final Site site;
  private final List<List<String>> programs;
  private final int[] acquired;
  private final Path results;
  private final PrintStream out;
  private List<FaultKind> kinds;
  private boolean onlySome;
  private boolean onlyConsumers;
  private boolean alsoDense;
  private Less less = Less.NOTHING;
  private final Set<Also> also = EnumSet.noneOf(Also.class);
  private Duration shrinking = Duration.ZERO;
  private Verdict all = Verdict.none();
  private int histories;

  /**
   * A prover of client programs.
   *
   * @param programs the command lines of clients that follow the line protocol; of the two or three
   *     clients of a round, each one is of the next program
   * @param results where folders of violations go
   * @param out is told of each round
   */
  public Prover(Broker broker, List<List<String>> programs, Path results, PrintStream out) {
    this(Site.of(broker), programs, results, out);
  }

  /** A prover on a cluster, each client on another node. */
  public Prover(Cluster cluster, List<List<String>> programs, Path results, PrintStream out) {
    this(Site.of(cluster), programs, results, out);
  }

  private Prover(Site site, List<List<String>> programs, Path results, PrintStream out) {
    this.site = site;
    kinds = site.faults();
    this.programs = List.copyOf(programs);
    acquired = new int[programs.size()];
    this.results = results;
    this.out = out;
  }

  /** The client of this project, on this machine's Java. */
  public static List<String> ownClient() {
    return List.of(
        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
        "-XX:TieredStopAtLevel=1",
        "-XX:+UseSerialGC",
        "-Xmx256m",
        "-cp",
        System.getProperty("java.class.path"),
        "io.amqplocks.prover.driver.Driver");
  }

  /**
   * Searches with these faults only, and never without any.
   *
   * @param names names of faults
   * @throws IllegalArgumentException if there is no such fault
   */
  public void only(List<String> names) {
    kinds = kinds(names);
    requireHere(kinds);
    onlySome = true;
  }

  /**
   * Searches with sole consumers only, and with faults that can harm them.
   *
   * @throws IllegalArgumentException if there are none
   */
  public void onlyConsumers() {
    onlyConsumers = true;
    kinds = kinds.stream().filter(kind -> !kind.onlyForOthers()).toList();
    if (kinds.isEmpty()) {
      throw new IllegalArgumentException("None of these faults harms a consumer");
    }
  }

  private void requireHere(List<FaultKind> faults) {
    if (!site.faults().containsAll(faults)) {
      throw new IllegalArgumentException("Some of %s cannot be done to %s".formatted(faults, site));
    }
  }

  /**
   * After the rounds with each fault, every second one is without a fault, and for many operations
   * instead: {@link Also#DENSE}.
   */
  public void alsoDense() {
    alsoDense = true;
  }

  /**
   * Searches with these locks only, and in rounds that have one of them.
   *
   * @param locks kinds or names
   * @throws IllegalArgumentException if no round has any
   */
  public void onlyLocks(List<String> locks) {
    less = less.withLocks(locks);
    Less wanted = less;
    if (LongStream.range(0, 300).noneMatch(seed -> wanted.leavesLocks(plan(seed, List.of())))) {
      throw new IllegalArgumentException("There are no locks " + locks);
    }
  }

  /**
   * Has clients do more than plans say.
   *
   * @param names of {@link Also}
   * @throws IllegalArgumentException if there is none of that name
   */
  public void also(List<String> names) {
    names.forEach(name -> also.add(Also.valueOf(name)));
  }

  /**
   * Leaves out of each round what that says.
   *
   * @param left what is left, as the page of a violation says
   * @throws IllegalArgumentException if it cannot be read
   */
  public void leave(String left) {
    less = Less.parse(left);
  }

  /**
   * Repeats each round that has a violation with less, as long as the same promise is violated.
   *
   * @param time for each of them, no round begins after that time
   */
  public void shrink(Duration time) {
    shrinking = time;
  }

  private static List<FaultKind> kinds(List<String> names) {
    return names.stream().map(FaultKind::valueOf).toList();
  }

  /**
   * No fault, every fault once, then at random.
   *
   * @param seed all rounds follow from it
   * @param time no round begins after that time
   * @param stopAtFirst whether no round begins after one with a violation
   */
  public void prove(long seed, Duration time, boolean stopAtFirst)
      throws IOException, InterruptedException {
    long end = System.nanoTime() + time.toNanos();
    Random random = new Random(seed);
    List<List<FaultKind>> first = new ArrayList<>();
    if (isSearchedWithout()) {
      first.add(List.of());
    }
    // In an order that differs from seed to seed: a short run does not come to all of them.
    List<FaultKind> shuffled = new ArrayList<>(kinds);
    Collections.shuffle(shuffled, random);
    shuffled.forEach(each -> first.add(List.of(each)));
    for (int i = 0; System.nanoTime() < end && !(stopAtFirst && foundAny()); i++) {
      long roundSeed = random.nextLong() >>> 1;
      while (onlyConsumers && !Plan.consumes(roundSeed)) {
        roundSeed++;
      }
      if (alsoDense && i >= first.size() && (i - first.size()) % 2 == 0) {
        dense(roundSeed);
        continue;
      }
      List<FaultKind> faults = i < first.size() ? first.get(i) : chosen(new Random(roundSeed));
      boolean isToHarm = i < first.size() || onlySome;
      round(withLocks(isToHarm ? Plan.seedFor(roundSeed, faults) : roundSeed, faults), faults);
    }
  }

  private void dense(long from) throws IOException, InterruptedException {
    boolean isNew = also.add(Also.DENSE);
    long seed = withLocks(from, List.of());
    while (Plan.consumes(seed)) {
      seed = withLocks(seed + 1, List.of());
    }
    round(seed, List.of());
    if (isNew) {
      also.remove(Also.DENSE);
    }
  }

  /** From that seed on, the first one of a round that has some of the locks. */
  long withLocks(long seed, List<FaultKind> faults) {
    long result = here(seed);
    while (!less.leavesLocks(plan(result, faults))) {
      result = here(result + 1);
    }
    return result;
  }

  /** On a cluster, from that seed on, the first one with a client at each node. */
  private long here(long seed) {
    return site.isCluster() ? ClusterPlan.seedFor(seed) : seed;
  }

  private boolean foundAny() {
    return !all.violations().isEmpty();
  }

  private boolean isSearchedWithout() {
    return !onlySome;
  }

  /** The faults of a round are part of its seed, except for the first rounds of a run. */
  private List<FaultKind> chosen(Random random) {
    List<FaultKind> result = new ArrayList<>();
    int count = isSearchedWithout() ? random.nextInt(4) : 1 + random.nextInt(3);
    for (int i = 0; i < count; i++) {
      result.add(kinds.get(random.nextInt(kinds.size())));
    }
    return result.stream().distinct().toList();
  }

  /**
   * Repeats one round.
   *
   * @param command its seed; behind a colon, the names of its faults, separated by commas
   * @throws IllegalArgumentException if it is no seed, or there is no such fault
   */
  public void again(String command) throws IOException, InterruptedException {
    String[] parts = command.split(":", 2);
    List<FaultKind> faults =
        parts.length == 1 ? List.of() : kinds(List.of(parts[1].split(",", -1)));
    requireHere(faults);
    round(Long.parseLong(parts[0]), faults);
  }

  /**
   * One round.
   *
   * @param seed the round follows from it
   * @param faults what is done in it
   */
  void round(long seed, List<FaultKind> faults) throws IOException, InterruptedException {
    Plan whole = plan(seed, faults);
    Verdict verdict = round(whole, less, "");
    if (!shrinking.isZero() && !verdict.violations().isEmpty()) {
      shrink(whole, mostTelling(verdict.violations()));
    }
  }

  /** What is stuck may follow from something else, and takes a minute to show. */
  private static Violation mostTelling(List<Violation> violations) {
    return violations.stream()
        .filter(each -> each.promise() != Violation.Promise.LIVENESS)
        .findFirst()
        .orElse(violations.get(0));
  }

  /** The rounds of a shrinking count like others. Their folders say what they were for. */
  private void shrink(Plan whole, Violation found) throws IOException, InterruptedException {
    long end = System.nanoTime() + shrinking.toNanos();
    out.printf("      shrinking it for %d s at most%n", shrinking.toSeconds());
    Shrinker shrinker =
        new Shrinker(
            whole,
            () -> System.nanoTime() < end,
            left ->
                round(whole, left, "-shrunk").violations().stream()
                    .anyMatch(each -> isLike(each, found)));
    Less least = shrinker.shrink(less, found.lock().name());
    Path folder = folder(whole, least.equals(less) ? "" : "-shrunk");
    out.printf("      %s: bin/prove %s; see %s%n", found.promise(), command(whole, least), folder);
  }

  /** Of another lock of that kind, it may be the same defect. */
  private static boolean isLike(Violation one, Violation other) {
    return one.promise() == other.promise() && one.lock().kind() == other.lock().kind();
  }

  private Path folder(Plan plan, String suffix) {
    return results.resolve(
        (site.isCluster() ? "cluster-round-" : "round-")
            + site.version()
            + "-"
            + plan.seed()
            + suffix);
  }

  /** What the round of that seed has of its plan. */
  Plan left(long seed, List<FaultKind> faults) {
    return less.of(plan(seed, faults));
  }

  private Plan plan(long seed, List<FaultKind> faults) {
    boolean isDense = also.contains(Also.DENSE) && faults.isEmpty();
    Plan result = site.plan(seed, faults, isDense ? DENSE : length(seed, faults));
    for (Also each : also) {
      result = each.in(result);
    }
    return result;
  }

  /** What to tell {@code bin/prove} for the same round. */
  private String command(Plan whole, Less left) {
    String names = String.join(",", also.stream().map(Also::name).toList());
    return (site.isCluster() ? "--cluster " : "")
        + left.command(whole)
        + (names.isEmpty() ? "" : " --also " + names);
  }

  /** What is left of a plan. The folder of the last one with a violation stays. */
  private Verdict round(Plan whole, Less left, String suffix)
      throws IOException, InterruptedException {
    Plan plan = left.of(whole);
    List<FaultKind> faults = plan.harms().stream().map(Plan.Harm::what).distinct().toList();
    Path folder = folder(plan, suffix + ".now");
    Files.createDirectories(folder);
    Round round =
        new Round(plan, site, programs, folder, site.isCluster() ? CLUSTER_PATIENCE : PATIENCE);
    long begin = System.nanoTime();
    RuntimeException failed = null;
    try {
      round.run();
    } catch (RuntimeException e) {
      // What has happened until then is evidence all the same.
      failed = e;
    }
    Verdict verdict = Verdict.of(plan, round.history(), round.stuck());
    verdict = failed == null ? verdict : verdict.ofABrokenOffRound();
    histories++;
    all = all.and(verdict);
    List<Integer> gained = round.acquired();
    Arrays.setAll(acquired, i -> acquired[i] + gained.get(i));
    out.printf(
        "%4d  %-52s %7d operations %4d unknown %3d violations  %5.1f s%n",
        histories,
        (Plan.consumes(plan.seed()) ? "consumers, " : "")
            + (faults.isEmpty()
                ? "no fault"
                : String.join(", ", faults.stream().map(FaultKind::label).toList())),
        verdict.operations(),
        verdict.unknown(),
        verdict.violations().size(),
        (System.nanoTime() - begin) / 1e9);
    if (verdict.excusedLosses() > 0) {
      out.printf(
          "      %d losses excused by their reason, see docs/PROVER.md%n", verdict.excusedLosses());
    }
    if (verdict.violations().isEmpty()) {
      remove(folder);
    } else {
      Path kept = folder(plan, suffix);
      if (Files.exists(kept)) {
        remove(kept);
      }
      keep(plan, command(whole, left), round, verdict, Files.move(folder, kept));
    }
    if (failed != null) {
      throw failed;
    }
    return verdict;
  }

  /** Consumers take longer to take turns: who handed over stands by again after two seconds. */
  private static Duration length(long seed, List<FaultKind> faults) {
    int consuming = faults.isEmpty() ? 9 : 12;
    return Duration.ofSeconds(Plan.consumes(seed) ? consuming : 6);
  }

  private void keep(Plan plan, String command, Round round, Verdict verdict, Path folder)
      throws IOException {
    round.history().writeTo(folder.resolve("history.jsonl"));
    Files.writeString(
        folder.resolve("history.html"),
        HistoryPage.of(plan, command, round.history(), verdict.violations()));
    Files.writeString(
        folder.resolve("violations.txt"),
        "bin/prove %s, with %s%n%s%n"
            .formatted(
                command,
                plan.harms(),
                String.join("\n", verdict.violations().stream().map(Violation::text).toList())));
    verdict.violations().stream()
        .limit(10)
        .forEach(
            each -> {
              out.println("      " + each.promise() + ": " + each.text());
              Circumstances.of(round.history(), each)
                  .forEach(line -> out.println("        " + line));
            });
    out.println("      see " + folder.resolve("history.html"));
  }

  private static void remove(Path folder) throws IOException {
    try (var files = Files.list(folder)) {
      for (Path file : files.toList()) {
        Files.delete(file);
      }
    }
    Files.delete(folder);
  }

  /** What all rounds together have shown, in the words of the last line. */
  public String summary() {
    return "proof: %d histories, %d operations, %d faults, %d violations, %d unknown"
        .formatted(
            histories, all.operations(), all.faults(), all.violations().size(), all.unknown());
  }

  /** How many writes guarded rows took so far. */
  public int taken() {
    return all.taken();
  }

  /** How many writes guarded rows refused so far, since a later lease had written. */
  public int refused() {
    return all.refused();
  }

  /** All violations so far. */
  public List<Violation> violations() {
    return all.violations();
  }

  /** How many times the clients of each program got a lock so far, in the order of the programs. */
  public List<Integer> acquired() {
    return Arrays.stream(acquired).boxed().toList();
  }

  /** How many times a client asked for a lock so far, and how many messages were handled. */
  public int operations() {
    return all.operations();
  }
}
