package io.amqplocks.inmemory;

import io.amqplocks.lock.LossReason;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Notifies the user's code of the events of one lease. An end is reported only after the lease was
 * announced, however early it came.
 */
final class LeaseEvents {

  private final InMemoryLease lease;
  private final Notices notices;
  private final CompletableFuture<Notices.Holds> announced = new CompletableFuture<>();
  private final CompletableFuture<LossReason> lost = new CompletableFuture<>();

  LeaseEvents(InMemoryLease lease, Notices notices) {
    this.lease = lease;
    this.notices = notices;
  }

  void acquired(Duration waited, Notices.Attempts attempts) {
    Notices.Holds holds = attempts.acquired(lease);
    notices.post(listener -> listener.acquired(lease, waited));
    announced.complete(holds);
  }

  /** Posts notices only, so that it can be called under the table's monitor. */
  void released() {
    var unused =
        announced.thenAccept(
            holds -> notices.post(listener -> listener.released(lease, lease.age())));
  }

  /** Runs the observers' code, on this thread. */
  void tellObserversOfRelease() {
    var unused = announced.thenAccept(holds -> holds.ended(hold -> hold.released()));
  }

  /** Posts notices only, so that it can be called under the table's monitor. */
  void lost(LossReason reason) {
    var unused =
        announced.thenAccept(
            holds ->
                notices.postLoss(
                    () -> lost.complete(reason),
                    () -> holds.ended(hold -> hold.lost(reason)),
                    listener -> listener.lost(lease, reason, lease.age())));
  }

  CompletionStage<LossReason> whenLost() {
    return lost.minimalCompletionStage();
  }
}
