package io.amqplocks.sample.demo;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.locks.ReentrantLock;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Who holds which slot, as the workers' logs tell it. Good for showing, and for finding a worker in
 * mid-upload; but a bit late, so that the limit itself must be counted at the receiver.
 */
final class SlotBoard {

  private static final Pattern LINE =
      Pattern.compile("semaphore 'images': slot (\\d+) (taken|released|lost)");

  /** No upload is over in less: the smallest image, and bytes-per-second in application.yml. */
  static final Duration SURELY_HELD = Duration.ofMillis(360);

  private static final Duration SURELY_BEGUN = Duration.ofMillis(80);
  private static final Duration HARDLY_HALF = Duration.ofMillis(180);

  private record Claim(int slot, int worker) {}

  private final ReentrantLock lock = new ReentrantLock();
  private final Map<Claim, Long> since = new HashMap<>();
  private final SortedSet<Integer> freed = new TreeSet<>();
  private final List<String> news = new ArrayList<>();
  private final Set<Integer> killed = new HashSet<>();
  private long killedAt;
  private int lost;

  /** A worker logged this line at this {@link System#nanoTime()}. */
  void read(int worker, String line, long now) {
    Matcher matcher = LINE.matcher(line);
    lock.lock();
    try {
      if (matcher.find()) {
        happened(new Claim(Integer.parseInt(matcher.group(1)), worker), matcher.group(2), now);
      }
    } finally {
      lock.unlock();
    }
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
      since.keySet().removeIf(claim -> claim.worker() == worker);
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
      since.remove(claim);
      if (killed.contains(claim.worker())) { // It got that far just before it died.
        freed.remove(claim.slot());
      }
    } else if (!killed.contains(claim.worker())) {
      since.put(claim, now);
      if (freed.remove(claim.slot())) {
        long millis = Duration.ofNanos(now - killedAt).toMillis();
        news.add(
            "slot %d taken by worker %d after %d ms"
                .formatted(claim.slot(), claim.worker(), millis));
      }
    }
  }
}
