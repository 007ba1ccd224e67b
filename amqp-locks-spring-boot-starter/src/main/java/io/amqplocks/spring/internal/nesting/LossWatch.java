package io.amqplocks.spring.internal.nesting;

import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LossReason;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicBoolean;

/**
 * Tells the loss of one lease to nested calls, which come and go. The lease's own stage would keep
 * what each of them chained to it until the lease ends.
 *
 * <p>Concurrency: a watcher is in the set before it is looked whether the lease was lost, and a
 * loss is recorded in the lease before the set is gone through. So one of the two tells the
 * watcher.
 */
final class LossWatch {

  private final Lease lease;
  private final Set<Watcher> watching = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean listening = new AtomicBoolean();

  LossWatch(Lease lease) {
    this.lease = lease;
  }

  /** One subscription to the loss of the lease. */
  final class Watcher {
    private final CompletableFuture<LossReason> told = new CompletableFuture<>();

    /** Completes when the lease is lost. After {@link #leave} it may stay incomplete. */
    CompletableFuture<LossReason> told() {
      return told.copy();
    }

    /** Ends the subscription. */
    void leave() {
      watching.remove(this);
    }
  }

  /** Subscribes to the loss of the lease. */
  Watcher watch() {
    Watcher watcher = new Watcher();
    watching.add(watcher);
    if (listening.compareAndSet(false, true)) {
      var unused =
          lease
              .whenLost()
              .thenAccept(reason -> watching.forEach(each -> each.told.complete(reason)));
    } else {
      lease.lossReason().ifPresent(watcher.told::complete);
    }
    return watcher;
  }
}
