package io.amqplocks.internal.lease;

import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockObserver.Attempt;
import io.amqplocks.lock.LockObserver.Hold;
import io.amqplocks.lock.LossReason;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * Notifies the user's code of the events of one lease. A loss is reported only after the lease was
 * announced, however early the loss came.
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

  void released() {
    notices.post(listener -> listener.released(lease, lease.age()));
    // Checked in this order, because the announcing thread sets the hold first. A lease that is not
    // announced yet is released only when all leases are released at the close.
    if (!announced.isDone() || !hold.equals(Hold.NO_OP)) {
      var unused = announced.thenRun(() -> hold.released());
    }
  }

  void lost(LossReason reason) {
    var unused =
        announced.thenRun(
            () -> {
              notices.run(() -> lost.complete(reason));
              if (!hold.equals(Hold.NO_OP)) {
                notices.run(() -> hold.lost(reason));
              }
              notices.postLoss(listener -> listener.lost(lease, reason, lease.age()));
            });
  }

  CompletionStage<LossReason> whenLost() {
    return lost.minimalCompletionStage();
  }
}
