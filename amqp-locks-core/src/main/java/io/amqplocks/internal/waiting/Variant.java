package io.amqplocks.internal.waiting;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What the user wants of a slot.
 *
 * @param fenced whether the lease has a fencing token
 * @param priority waiters with the highest priority are served first
 * @param fair whether waiters of this process are served in the order of arrival
 * @param permits how many slots one lease has
 * @param failFast whether an outage is thrown at once, instead of waited out
 * @param holdAtMost how long the lease may be held; null for as long as it lasts
 */
public record Variant(
    boolean fenced,
    int priority,
    boolean fair,
    int permits,
    boolean failFast,
    @Nullable Duration holdAtMost) {

  /** One slot, no fencing token, no priority and no limit, in the order of arrival. */
  public static final Variant PLAIN = new Variant(false, 0, true, 1, false, null);

  /** Whether a request to the broker for one serves the other. */
  boolean asksTheSameAs(Variant other) {
    return fenced == other.fenced && priority == other.priority && permits == other.permits;
  }

  Variant withToken() {
    return new Variant(true, priority, fair, permits, failFast, holdAtMost);
  }

  Variant withPriority(int wanted) {
    return new Variant(fenced, wanted, fair, permits, failFast, holdAtMost);
  }

  Variant withoutOrder() {
    return new Variant(fenced, priority, false, permits, failFast, holdAtMost);
  }

  Variant withPermits(int wanted) {
    return new Variant(fenced, priority, fair, wanted, failFast, holdAtMost);
  }

  Variant failingFast() {
    return new Variant(fenced, priority, fair, permits, true, holdAtMost);
  }

  Variant withLimit(Duration longest) {
    return new Variant(fenced, priority, fair, permits, failFast, longest);
  }
}
