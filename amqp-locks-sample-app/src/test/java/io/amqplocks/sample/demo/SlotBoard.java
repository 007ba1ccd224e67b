package io.amqplocks.sample.demo;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Who holds which slot, as the workers' logs tell it. Good for showing, and for finding a worker in
 * mid-upload; but a bit late, so that the limit itself must be counted at the receiver.
 */
final class SlotBoard {

  private static final Pattern LINE =
      Pattern.compile(
          "semaphore 'images': slot (\\d+) (taken|released|lost)(?: after (\\d+) ms|: (.*))?");

  /** No upload is over in less: the smallest image, and bytes-per-second in application.yml. */
  static final Duration SURELY_HELD = Duration.ofMillis(360);

  private static final Duration SURELY_BEGUN = Duration.ofMillis(80);
  private static final Duration HARDLY_HALF = Duration.ofMillis(180);

  /** Holds that ended earlier are forgotten; the page shows no more. */
  static final Duration MEMORY = Duration.ofSeconds(12);

  /** The log is read so soon after it was written. */
  private static final Duration SAME_TIME = Duration.ofMillis(150);

  private record Claim(int slot, int worker) {}

  /** A lease that a worker lost, and why. */
  record Loss(int slot, int worker, String why) {}

  /** How many slots were taken, and how long the takers had waited in all. */
  record Waits(int taken, long millis) {}

  private final ReentrantLock lock = new ReentrantLock();
  private final Map<Claim, Long> since = new HashMap<>();
  private final SortedSet<Integer> freed = new TreeSet<>();
  private final List<String> news = new ArrayList<>();
  private final Set<Integer> killed = new HashSet<>();
  private final Deque<Hold> ended = new ArrayDeque<>();
  private final List<Loss> losses = new ArrayList<>();
  private long killedAt;
  private int lost;
  private int taken;
  private long waitedMillis;

  /** A worker logged this line at this {@link System#nanoTime()}. */
  void read(int worker, String line, long now) {
    Matcher matcher = LINE.matcher(line);
    lock.lock();
    try {
      if (matcher.find()) {
        Claim claim = new Claim(Integer.parseInt(matcher.group(1)), worker);
        String what = matcher.group(2);
        if (what.equals("taken") && matcher.group(3) != null) {
          taken++;
          waitedMillis += Long.parseLong(matcher.group(3));
        } else if (what.equals("lost")) {
          losses.add(new Loss(claim.slot(), worker, String.valueOf(matcher.group(4))));
        }
        if (what.equals("released") && !since.containsKey(claim) && matcher.group(3) != null) {
          long from = now - TimeUnit.MILLISECONDS.toNanos(Long.parseLong(matcher.group(3)));
          claim = began(worker, from).orElse(claim);
        }
        happened(claim, what, now);
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * A worker's endpoint said this. A lease of tokens may move to another slot when it is verified,
   * which no line of the log tells.
   */
  void read(int worker, WorkerReport report) {
    lock.lock();
    try {
      for (WorkerReport.Held lease : report.leases()) {
        Claim there = new Claim(lease.slot(), worker);
        if (!since.containsKey(there) && !killed.contains(worker)) {
          began(worker, report.at() - lease.age().toNanos())
              .filter(claim -> report.lease(claim.slot()).isEmpty())
              .ifPresent(
                  claim -> {
                    long from = since.getOrDefault(claim, report.at());
                    end(claim, Hold.End.MOVED, report.at());
                    since.put(there, from);
                  });
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** What this worker holds since then, as exactly as two processes can tell. */
  private Optional<Claim> began(int worker, long from) {
    return since.entrySet().stream()
        .filter(claim -> claim.getKey().worker() == worker)
        .filter(claim -> Math.abs(claim.getValue() - from) < SAME_TIME.toNanos())
        .min(Comparator.comparingLong(claim -> Math.abs(claim.getValue() - from)))
        .map(Map.Entry::getKey);
  }

  /** A worker that is in the middle of an upload just now, or of several if there is one. */
  OptionalInt inMidUpload(long now) {
    lock.lock();
    try {
      Map<Integer, Integer> uploads = new TreeMap<>();
      since.forEach(
          (claim, from) -> {
            if (now - from > SURELY_BEGUN.toNanos() && now - from < HARDLY_HALF.toNanos()) {
              uploads.merge(claim.worker(), 1, Integer::sum);
            }
          });
      return uploads.entrySet().stream()
          .max(Map.Entry.comparingByValue())
          .map(most -> OptionalInt.of(most.getKey()))
          .orElse(OptionalInt.empty());
    } finally {
      lock.unlock();
    }
  }

  /** This worker is being killed; what it surely holds is waited for from now on. */
  void kill(int worker, long now) {
    lock.lock();
    try {
      killed.add(worker);
      killedAt = now;
      since.forEach(
          (claim, from) -> {
            if (claim.worker() == worker && now - from < SURELY_HELD.toNanos()) {
              freed.add(claim.slot());
            }
          });
      for (Claim claim : List.copyOf(since.keySet())) {
        if (claim.worker() == worker) {
          end(claim, Hold.End.KILLED, now);
        }
      }
    } finally {
      lock.unlock();
    }
  }

  /** The slots of the killed worker that nobody else has taken yet. */
  SortedSet<Integer> freed() {
    lock.lock();
    try {
      return new TreeSet<>(freed);
    } finally {
      lock.unlock();
    }
  }

  /** What to tell of freed slots since the last call. */
  List<String> news() {
    lock.lock();
    try {
      List<String> result = List.copyOf(news);
      news.clear();
      return result;
    } finally {
      lock.unlock();
    }
  }

  /** The holding worker by slot. */
  Map<Integer, Integer> holders() {
    lock.lock();
    try {
      Map<Integer, Integer> result = new TreeMap<>();
      since.keySet().forEach(claim -> result.put(claim.slot(), claim.worker()));
      return result;
    } finally {
      lock.unlock();
    }
  }

  /** Who holds what, and who did within {@link #MEMORY}, by the time at which it began. */
  List<Hold> holds(long now) {
    lock.lock();
    try {
      ended.removeIf(hold -> hold.to() != null && now - hold.to() > MEMORY.toNanos());
      List<Hold> result = new ArrayList<>(ended);
      since.forEach(
          (claim, from) -> result.add(new Hold(claim.slot(), claim.worker(), from, null, null)));
      result.sort(Comparator.comparingLong(Hold::from));
      return result;
    } finally {
      lock.unlock();
    }
  }

  /** What was lost since the last call. */
  List<Loss> losses() {
    lock.lock();
    try {
      List<Loss> result = List.copyOf(losses);
      losses.clear();
      return result;
    } finally {
      lock.unlock();
    }
  }

  /** Of all slots that were taken so far. */
  Waits waits() {
    lock.lock();
    try {
      return new Waits(taken, waitedMillis);
    } finally {
      lock.unlock();
    }
  }

  /** How many slots this worker holds. */
  int holding(int worker) {
    lock.lock();
    try {
      return (int) since.keySet().stream().filter(claim -> claim.worker() == worker).count();
    } finally {
      lock.unlock();
    }
  }

  /** How many leases were lost. */
  int lost() {
    lock.lock();
    try {
      return lost;
    } finally {
      lock.unlock();
    }
  }

  private void happened(Claim claim, String what, long now) {
    if (what.equals("lost")) {
      lost++;
    }
    if (!what.equals("taken")) {
      end(claim, what.equals("lost") ? Hold.End.LOST : Hold.End.RELEASED, now);
      if (killed.contains(claim.worker())) { // It got that far just before it died.
        freed.remove(claim.slot());
      }
    } else if (!killed.contains(claim.worker())) {
      end(claim, Hold.End.RELEASED, now); // Not there, unless a line of the log is missing.
      since.put(claim, now);
      if (freed.remove(claim.slot())) {
        long millis = Duration.ofNanos(now - killedAt).toMillis();
        news.add(
            "slot %d taken by worker %d after %d ms"
                .formatted(claim.slot(), claim.worker(), millis));
      }
    }
  }

  private void end(Claim claim, Hold.End end, long now) {
    Long from = since.remove(claim);
    if (from != null) {
      ended.add(new Hold(claim.slot(), claim.worker(), from, now, end));
    }
  }
}
