package io.amqplocks.internal.lease;

import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockObserver.Attempt;
import io.amqplocks.lock.LockObserver.Hold;
import io.amqplocks.lock.LossReason;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;

/**
 * What the user's code hears of one lease. Of its loss nothing before the lease was announced, however
 * early it came.
 */
final class LeaseNotices {

  private final Lease lease;
  private final Notices notices;
  private final CompletableFuture<Void> announced = new CompletableFuture<>();
  private volatile Hold hold = Hold.NO_OP;
  private final CompletableFuture<LossReason> lost = new CompletableFuture<>();

  LeaseNotices(Lease lease, Notices notices) {
    this.lease = lease;
    this.notices = notices;
  }

  void acquired(Duration waited, Attempt attempt) {
    // Before anybody can be told of the end.
    hold = attempt.acquired(lease);
    notices.post(listener -> listener.acquired(lease, waited));
    announced.complete(null);
  }

  void released() {
    notices.post(listener -> listener.released(lease, lease.age()));
    // Asked in this order, for who announces sets it first. What is not announced yet is released
    // by
    // the close of all there is.
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
