package io.amqplocks.prover.run;

import io.amqplocks.prover.driver.LockRef;
import io.amqplocks.prover.run.Plan.Harm;
import io.amqplocks.prover.run.Plan.Resize;
import io.amqplocks.prover.run.Plan.Work;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * What is left of a plan. What is left is as it was in the whole plan.
 *
 * @param locks kinds or names of locks; empty for all
 * @param clients the first so many; others' faults and changes of slots are those of one of them
 * @param threads the first so many of each client for each lock
 * @param harms the numbers of faults, from 1, in the order of the plan; null for all
 * @param steady whether numbers of slots do not change
 * @param millis how long clients begin new work, at most
 */
record Less(
    List<String> locks,
    int clients,
    int threads,
    @Nullable List<Integer> harms,
    boolean steady,
    int millis) {

  /** The whole plan. */
  static final Less NOTHING =
      new Less(List.of(), Integer.MAX_VALUE, Integer.MAX_VALUE, null, false, Integer.MAX_VALUE);

  Less {
    locks = List.copyOf(locks);
  }

  /**
   * What {@link #toString} has written.
   *
   * @throws IllegalArgumentException if it is something else
   */
  static Less parse(String text) {
    Less result = NOTHING;
    for (String word : text.split(",", -1)) {
      String[] parts = word.split("=", 2);
      String value = parts.length < 2 ? "" : parts[1];
      result =
          switch (parts[0]) {
            case "locks" -> result.withLocks(List.of(value.split("[+]", -1)));
            case "clients" -> result.withClients(positive(value));
            case "threads" -> result.withThreads(positive(value));
            case "harms" ->
                result.withHarms(
                    Arrays.stream(value.split("[+]", -1))
                        .filter(each -> !each.isEmpty())
                        .map(Less::positive)
                        .toList());
            case "steady" -> result.withSteadySlots();
            case "millis" -> result.withMillis(positive(value));
            default -> throw new IllegalArgumentException("Nothing can be left of '" + word + "'");
          };
    }
    return result;
  }

  private static int positive(String value) {
    int number = Integer.parseInt(value);
    if (number < 1) {
      throw new IllegalArgumentException("There is no number " + number);
    }
    return number;
  }

  @Override
  public String toString() {
    List<String> words = new ArrayList<>();
    if (!locks.isEmpty()) {
      words.add("locks=" + String.join("+", locks));
    }
    if (clients != Integer.MAX_VALUE) {
      words.add("clients=" + clients);
    }
    if (threads != Integer.MAX_VALUE) {
      words.add("threads=" + threads);
    }
    if (harms != null) {
      words.add("harms=" + harms.stream().map(String::valueOf).collect(Collectors.joining("+")));
    }
    if (steady) {
      words.add("steady");
    }
    if (millis != Integer.MAX_VALUE) {
      words.add("millis=" + millis);
    }
    return String.join(",", words);
  }

  /** What to tell {@code bin/prove} for the same round. */
  String command(Plan whole) {
    return "--round " + whole.command() + (equals(NOTHING) ? "" : " --less " + this);
  }

  /** Whether anything of that plan is left. */
  boolean leavesLocks(Plan whole) {
    return whole.locks().stream().anyMatch(slots -> has(slots.lock()));
  }

  private boolean has(LockRef lock) {
    return locks.isEmpty() || locks.contains(lock.name()) || locks.contains(lock.kind().name());
  }

  /** What is left of a plan. */
  Plan of(Plan whole) {
    int left = Math.min(clients, whole.clients());
    Map<List<Object>, Integer> seen = new HashMap<>();
    List<Work> work =
        whole.work().stream()
            .filter(each -> has(each.lock()) && each.client() < left)
            .filter(
                each -> seen.merge(List.of(each.client(), each.lock()), 1, Integer::sum) <= threads)
            .toList();
    List<Harm> harmful =
        IntStream.range(0, whole.harms().size())
            .filter(i -> harms == null || harms.contains(i + 1))
            .mapToObj(i -> whole.harms().get(i))
            .map(each -> new Harm(each.what(), each.client() % left, each.begin(), each.length()))
            .toList();
    List<Resize> resizes =
        whole.resizes().stream()
            .filter(each -> !steady && has(each.lock()))
            .map(each -> new Resize(each.client() % left, each.lock(), each.slots(), each.begin()))
            .toList();
    Duration length =
        whole.length().toMillis() <= millis ? whole.length() : Duration.ofMillis(millis);
    return new Plan(
        whole.seed(),
        left,
        whole.locks().stream().filter(each -> has(each.lock())).toList(),
        work,
        resizes,
        harmful,
        length);
  }

  Less withLocks(List<String> those) {
    return new Less(those, clients, threads, harms, steady, millis);
  }

  Less withClients(int number) {
    return new Less(locks, number, threads, harms, steady, millis);
  }

  Less withThreads(int number) {
    return new Less(locks, clients, number, harms, steady, millis);
  }

  Less withHarms(List<Integer> those) {
    return new Less(locks, clients, threads, List.copyOf(those), steady, millis);
  }

  Less withSteadySlots() {
    return new Less(locks, clients, threads, harms, true, millis);
  }

  Less withMillis(int most) {
    return new Less(locks, clients, threads, harms, steady, most);
  }
}
