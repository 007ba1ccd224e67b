package io.amqplocks.support;

import static org.awaitility.Awaitility.await;

import io.amqplocks.lock.AmqpLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.assertj.core.api.SoftAssertions;
import org.jspecify.annotations.Nullable;

/** Many {@linkplain Rivalry rivalries} at once, so that one fault serves them all. */
public final class Rivalries implements AutoCloseable {

  private static final Duration FREE = Duration.ofSeconds(60);
  private static final long SAMPLE_MILLIS = 5;

  private record Entry(Rivalry rivalry, @Nullable Duration bound, Callable<Void> taking) {}

  private final List<Entry> entries = new ArrayList<>();
  private final Duration firstHold;
  private int taken;

  /**
   * @param firstHold how long the other one keeps what it got from the old holder
   */
  public Rivalries(Duration firstHold) {
    this.firstHold = firstHold;
  }

  /**
   * One more.
   *
   * @param bound how long both may say HELD at once; null if nothing is promised
   * @param pushed whether the old holder is given it as a waiter, or asks for it
   * @param making makes the lock
   */
  public void add(
      String name,
      @Nullable Duration bound,
      AmqpLock old,
      AmqpLock wanted,
      boolean fenced,
      boolean pushed,
      Runnable making) {
    Rivalry rivalry = new Rivalry(name, old, wanted, fenced, firstHold);
    entries.add(
        new Entry(
            rivalry,
            bound,
            () -> {
              making.run();
              if (pushed) {
                rivalry.awaitIt();
              } else {
                rivalry.take();
              }
              return null;
            }));
  }

  /** Makes those that were added last and lets the old holders have them. */
  public void take() throws Exception {
    inParallel(entries.stream().skip(taken).map(Entry::taking).toList());
    taken = entries.size();
  }

  private static <T> List<T> inParallel(List<Callable<T>> tasks) throws Exception {
    ExecutorService crowd = Executors.newFixedThreadPool(tasks.size());
    try {
      List<T> all = new ArrayList<>();
      for (Future<T> each : crowd.invokeAll(tasks)) {
        all.add(each.get());
      }
      return all;
    } finally {
      crowd.shutdownNow();
    }
  }

  /** Lets the others want them and looks on until that has happened; prints what was seen. */
  public void watch(String what, Callable<?> happens) throws Exception {
    CountDownLatch done = new CountDownLatch(1);
    Thread sampler = new Thread(() -> sample(done), "sampler");
    rivalries().forEach(Rivalry::begin);
    sampler.start();
    long start = System.nanoTime();
    try {
      happens.call();
    } finally {
      done.countDown();
      sampler.join();
    }
    StringBuilder seen = new StringBuilder(what).append(System.lineSeparator());
    rivalries().forEach(each -> seen.append("  ").append(each.report(start)).append('\n'));
    System.out.print(seen);
  }

  /** Lets that much time go by. */
  public static void pass(Duration span) {
    long end = System.nanoTime() + span.toNanos();
    await()
        .atMost(span.plusSeconds(30))
        .pollInterval(Duration.ofMillis(50))
        .until(() -> System.nanoTime() - end > 0);
  }

  private void sample(CountDownLatch done) {
    try {
      do {
        rivalries().forEach(Rivalry::sample);
      } while (!done.await(SAMPLE_MILLIS, TimeUnit.MILLISECONDS));
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  public List<Rivalry> rivalries() {
    return entries.stream().map(Entry::rivalry).toList();
  }

  /**
   * Nobody said HELD beside another for longer than promised, no number rose, and nobody wrote
   * after somebody later did.
   */
  public void assertHonest() {
    SoftAssertions soft = new SoftAssertions();
    for (Entry each : entries) {
      Rivalry rivalry = each.rivalry();
      if (each.bound() != null) {
        soft.assertThat(rivalry.overlap())
            .as(rivalry.name() + ": both HELD")
            .isLessThanOrEqualTo(each.bound());
      }
      soft.assertThat(rivalry.oldNumbers())
          .as(rivalry.name() + ": numbers of one lease")
          .isLessThanOrEqualTo(1);
      soft.assertThat(rivalry.isWrittenInOrder()).as(rivalry.name() + ": writes in order").isTrue();
    }
    soft.assertAll();
  }

  /** Waits for it for a minute at most; {@link #assertChangedHands} says which have not. */
  public void awaitChangedHands(Predicate<String> names) {
    long end = System.nanoTime() + TimeUnit.MINUTES.toNanos(1);
    await()
        .atMost(Duration.ofMinutes(2))
        .until(
            () ->
                System.nanoTime() - end > 0
                    || rivalries().stream()
                        .filter(each -> names.test(each.name()))
                        .allMatch(Rivalry::changedHands));
  }

  /** Without which a fault would not have shown anything. */
  public void assertChangedHands(Predicate<String> names) {
    SoftAssertions soft = new SoftAssertions();
    rivalries().stream()
        .filter(each -> names.test(each.name()))
        .forEach(
            each ->
                soft.assertThat(each.changedHands())
                    .as(each.name() + ": the other one had it")
                    .isTrue());
    soft.assertAll();
  }

  /** When all is well again and nobody wants them any more. */
  public void assertFree(Predicate<String> names) throws Exception {
    assertFree(names, FREE);
  }

  /**
   * As {@link #assertFree(Predicate)}.
   *
   * @param patience how long each may take to be free
   */
  public void assertFree(Predicate<String> names, Duration patience) throws Exception {
    List<Callable<String>> tries =
        rivalries().stream()
            .filter(each -> names.test(each.name()))
            .<Callable<String>>map(each -> () -> each.whyNotFree(patience))
            .toList();
    SoftAssertions soft = new SoftAssertions();
    soft.assertThat(inParallel(tries)).as("stuck").containsOnly("");
    soft.assertAll();
  }

  /** Nobody wants or holds any of them any more. */
  @Override
  public void close() throws InterruptedException {
    for (Entry each : entries) {
      each.rivalry().close();
    }
  }
}
