package io.amqplocks.spring.internal.nesting;

import org.jspecify.annotations.Nullable;

/**
 * Work of this thread under one lease, which calls in the course of it can join.
 *
 * @param lease the lease
 * @param before what the thread was a part of before
 */
public record NestedWork(OuterLease lease, @Nullable LeaseScope before) {

  /** Begins work under that lease. It ends by {@link #end}, on the same thread. */
  public static NestedWork begin(OuterLease lease) {
    LeaseScope before = LeaseScope.current();
    LeaseScope.enter(lease);
    return new NestedWork(lease, before);
  }

  /** Leaves the thread as it was, and gives the lease back. */
  public void end() {
    LeaseScope.restore(before);
    lease.close(true);
  }
}
