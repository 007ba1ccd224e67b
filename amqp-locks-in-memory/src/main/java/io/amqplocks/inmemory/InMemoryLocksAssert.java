package io.amqplocks.inmemory;

import io.amqplocks.lock.LockId;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.assertj.core.api.AbstractAssert;
import org.jspecify.annotations.Nullable;

/**
 * Assertions on what {@link InMemoryLocks} hold, and on what they have held since they were
 * created. {@link InMemoryLocksAssertions} begins them.
 *
 * <p>Each of them looks once and does not wait. A test must wait for what other threads do. What
 * {@link InMemoryLocks#busy} occupies is not a lease, and no assertion counts it.
 */
public final class InMemoryLocksAssert extends AbstractAssert<InMemoryLocksAssert, InMemoryLocks> {

  InMemoryLocksAssert(@Nullable InMemoryLocks actual) {
    super(actual, InMemoryLocksAssert.class);
  }

  /**
   * Verifies the highest number of slots of that lock that were held at the same time. A lease of
   * several permits counts with all of them, and a lease of a read lock or a write lock with one.
   */
  public InMemoryLocksAssert hasHeldAtOnce(LockId lock, int slots) {
    isNotNull();
    int most = actual.mostHeldAtOnce(lock);
    if (most != slots) {
      fail(
          "The most that was held at once of %s should be %d, and is %d%s"
              .formatted(lock, slots, most, acquiredInAll()));
    }
    return this;
  }

  /**
   * Verifies that never more than so many slots of that lock were held at the same time. This also
   * holds for a lock that was never held.
   */
  public InMemoryLocksAssert hasNeverHeldMoreThan(LockId lock, int slots) {
    isNotNull();
    int most = actual.mostHeldAtOnce(lock);
    if (most > slots) {
      fail(
          "No more than %d of %s should have been held at once, and %d were%s"
              .formatted(slots, lock, most, acquiredInAll()));
    }
    return this;
  }

  /** Verifies that nobody ever acquired that lock. */
  public InMemoryLocksAssert hasNeverHeld(LockId lock) {
    isNotNull();
    if (acquired().contains(lock)) {
      fail("%s should never have been held%s".formatted(lock, acquiredInAll()));
    }
    return this;
  }

  /** Verifies that no lease is held now. The failure names each that is, and its thread. */
  public InMemoryLocksAssert holdsNothing() {
    isNotNull();
    String held = actual.held();
    if (!held.isEmpty()) {
      fail("No lease should be held, and these are:" + held);
    }
    return this;
  }

  /**
   * Verifies the order in which locks were acquired. The locks are all that were acquired, each as
   * often as it was.
   */
  public InMemoryLocksAssert hasAcquiredExactly(LockId... locks) {
    isNotNull();
    List<LockId> acquired = acquired();
    List<LockId> expected = List.of(locks);
    if (!acquired.equals(expected)) {
      fail(
          "These locks should have been acquired, in this order:%n  %s%nThose acquired are:%n  %s"
              .formatted(expected, acquired));
    }
    return this;
  }

  /**
   * Verifies that those locks were acquired in that order. Others may have been acquired before,
   * after and in between.
   */
  public InMemoryLocksAssert hasAcquiredInOrder(LockId... locks) {
    isNotNull();
    if (locks.length == 0) {
      throw new IllegalArgumentException("There is no order without a lock; name one or more");
    }
    List<LockId> acquired = acquired();
    int found = 0;
    for (LockId lock : acquired) {
      if (found < locks.length && lock.equals(locks[found])) {
        found++;
      }
    }
    if (found < locks.length) {
      fail(
          "These locks should have been acquired in this order, perhaps with others in between:%n  %s%n"
                  .formatted(List.of(locks))
              + "%s was not acquired in its place. Those acquired are:%n  %s"
                  .formatted(locks[found], acquired));
    }
    return this;
  }

  private List<LockId> acquired() {
    return actual.history().stream().map(Acquisition::lock).toList();
  }

  /** Shows which lock was meant, if it was looked for under another kind or name. */
  private String acquiredInAll() {
    Map<String, Long> times =
        acquired().stream()
            .collect(Collectors.groupingBy(LockId::toString, TreeMap::new, Collectors.counting()));
    String all =
        times.entrySet().stream()
            .map(each -> each.getKey() + ": " + each.getValue())
            .collect(Collectors.joining(", "));
    return "%nLeases acquired so far: %s".formatted(all.isEmpty() ? "none" : all);
  }

  private void fail(String message) {
    // The names of locks may contain what a format would take for its own.
    failWithMessage("%s", message);
  }
}
