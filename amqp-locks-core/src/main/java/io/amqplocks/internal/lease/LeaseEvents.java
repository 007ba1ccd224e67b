package io.amqplocks.internal.lease;

import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockObserver.Attempt;
import io.amqplocks.lock.LockObserver.Hold;
import io.amqplocks.lock.LossReason;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Notifies the user's code of the events of one lease. Listeners are told of its end only after
 * they were told of the lease, however early the end came.
 */
final class LeaseEvents {

  private final Lease lease;
  private final EventDispatcher notices;
  private final CompletableFuture<Void> announced = new CompletableFuture<>();
  private volatile Hold hold = Hold.NO_OP;
  private final CompletableFuture<LossReason> lost = new CompletableFuture<>();

  LeaseEvents(Lease lease, EventDispatcher notices) {
    this.lease = lease;
    this.notices = notices;
  }

  void acquired(Duration waited, Attempt attempt) {
    // Set before anybody can be notified of the end.
    hold = attempt.acquired(lease);
    notices.post(listener -> listener.acquired(lease, waited));
    announced.complete(null);
  }

  /**
   * The lease was released. One that is not announced yet is released only when all leases are
   * released at the close. If it is never announced, nobody has heard of it, or hears of its end.
   */
  void released() {
    if (announced.isDone()) {
      postReleased();
    } else {
      var unused = announced.thenRun(this::postReleased);
    }
  }

  private void postReleased() {
    notices.post(listener -> listener.released(lease, lease.age()));
    if (!hold.equals(Hold.NO_OP)) {
      hold.released();
    }
  }

  void lost(LossReason reason) {
    var unused =
        announced.thenRun(
            () ->
                notices.postLoss(
                    () -> lost.complete(reason),
                    () -> hold.lost(reason),
                    listener -> listener.lost(lease, reason, lease.age())));
  }

  CompletionStage<LossReason> whenLost() {
    return lost.minimalCompletionStage();
  }
}
