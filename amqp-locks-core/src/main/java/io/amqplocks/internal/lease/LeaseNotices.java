package io.amqplocks.internal.lease;

import io.amqplocks.lock.Lease;
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
  private final CompletableFuture<LossReason> lost = new CompletableFuture<>();

  LeaseNotices(Lease lease, Notices notices) {
    this.lease = lease;
    this.notices = notices;
  }

  void acquired(Duration waited) {
    notices.post(listener -> listener.acquired(lease, waited));
    announced.complete(null);
  }

  void released() {
    notices.post(listener -> listener.released(lease, lease.age()));
  }

  void lost(LossReason reason) {
    var unused =
        announced.thenRun(
            () -> {
              notices.run(() -> lost.complete(reason));
              notices.postLoss(listener -> listener.lost(lease, reason, lease.age()));
            });
  }

  CompletionStage<LossReason> whenLost() {
    return lost.minimalCompletionStage();
  }
}
