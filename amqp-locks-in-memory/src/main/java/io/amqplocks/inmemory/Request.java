package io.amqplocks.inmemory;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What a call wants of a lock.
 *
 * @param fenced whether the lease has fencing tokens
 * @param priority waiters with the highest priority are served first
 * @param permits how many slots one lease has
 * @param failFast whether an outage is thrown at once
 * @param holdAtMost how long the lease may be held; null for as long as it lasts
 */
record Request(
    boolean fenced, int priority, int permits, boolean failFast, @Nullable Duration holdAtMost) {

  static final Request PLAIN = new Request(false, 0, 1, false, null);

  Request withToken() {
    return new Request(true, priority, permits, failFast, holdAtMost);
  }

  Request withPriority(int wanted) {
    return new Request(fenced, wanted, permits, failFast, holdAtMost);
  }

  Request withPermits(int wanted) {
    return new Request(fenced, priority, wanted, failFast, holdAtMost);
  }

  Request failingFast() {
    return new Request(fenced, priority, permits, true, holdAtMost);
  }

  Request withLimit(Duration longest) {
    return new Request(fenced, priority, permits, failFast, longest);
  }
}
