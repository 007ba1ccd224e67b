package io.amqplocks.internal.waiting;

import java.time.Duration;
import java.util.function.Consumer;
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
    return but(copy -> copy.fenced = true);
  }

  Variant withPriority(int wanted) {
    return but(copy -> copy.priority = wanted);
  }

  Variant withoutOrder() {
    return but(copy -> copy.fair = false);
  }

  Variant withPermits(int wanted) {
    return but(copy -> copy.permits = wanted);
  }

  Variant withoutPatience() {
    return but(copy -> copy.failFast = true);
  }

  Variant withLimit(Duration longest) {
    return but(copy -> copy.holdAtMost = longest);
  }

  private Variant but(Consumer<Copy> change) {
    Copy copy = new Copy(this);
    change.accept(copy);
    return copy.variant();
  }

  /** A copy that can be changed. */
  private static final class Copy {
    boolean fenced;
    int priority;
    boolean fair;
    int permits;
    boolean failFast;
    @Nullable Duration holdAtMost;

    Copy(Variant of) {
      fenced = of.fenced;
      priority = of.priority;
      fair = of.fair;
      permits = of.permits;
      failFast = of.failFast;
      holdAtMost = of.holdAtMost;
    }

    Variant variant() {
      return new Variant(fenced, priority, fair, permits, failFast, holdAtMost);
    }
  }
}
