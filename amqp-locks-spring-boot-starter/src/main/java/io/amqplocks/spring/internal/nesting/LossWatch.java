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
 * <p>Concurrency: a watcher is in the set before it is looked whether the lease was lost, and a loss
 * is recorded in the lease before the set is gone through. So one of the two tells the watcher.
 */
final class LossWatch {

  private final Lease lease;
  private final Set<Watcher> watching = ConcurrentHashMap.newKeySet();
  private final AtomicBoolean listening = new AtomicBoolean();

  LossWatch(Lease lease) {
    this.lease = lease;
  }

  /** One who wants to be told. */
  final class Watcher {
    private final CompletableFuture<LossReason> told = new CompletableFuture<>();

    /** Completes when the lease is lost; if nobody wants to know any more, perhaps not. */
    CompletableFuture<LossReason> told() {
      return told.copy();
    }

    /** Nobody wants to know any more. */
    void leave() {
      watching.remove(this);
    }
  }

  /** One who is told from now on. */
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
