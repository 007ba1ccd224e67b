package io.amqplocks.prover.driver;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LossReason;
import io.amqplocks.prover.driver.Command.Action;
import io.amqplocks.prover.driver.Event.What;
import java.lang.reflect.Proxy;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

/** A lease that answers its first look, which is the one before its release, and the one after. */
class WorkerTest {

  private static final LossReason REASON =
      new LossReason(LossReason.Cause.REVOKED, "its queue was deleted");

  private final CompletableFuture<LossReason> loss = new CompletableFuture<>();
  private final List<Event> events = Collections.synchronizedList(new ArrayList<>());

  /** What is said of a lease with these answers. */
  private List<What> said(LeaseState before, LeaseState after) throws InterruptedException {
    Queue<LeaseState> answers = new ArrayDeque<>(List.of(before));
    Lease lease =
        (Lease)
            Proxy.newProxyInstance(
                Lease.class.getClassLoader(),
                new Class<?>[] {Lease.class},
                (proxy, method, args) ->
                    switch (method.getName()) {
                      case "state" -> answers.isEmpty() ? after : answers.remove();
                      case "slot" -> 1;
                      case "fencingTokenIfAny" -> Optional.empty();
                      case "lossReason" -> Optional.of(REASON);
                      case "whenLost" -> loss;
                      case "close" -> null;
                      default -> throw new UnsupportedOperationException(method.getName());
                    });
    AmqpLock lock =
        (AmqpLock)
            Proxy.newProxyInstance(
                AmqpLock.class.getClassLoader(),
                new Class<?>[] {AmqpLock.class},
                (proxy, method, args) -> Optional.of(lease));
    LockRef ref = new LockRef(LockRef.Kind.MUTEX, "m");
    Command once =
        new Command(1, Action.WORK, null, null, 0, ref, 0, 1, false, false, 0, 0, 0, 1, 0, null);
    new Worker(once, lock, events::add).work();
    return events.stream().map(Event::what).toList();
  }

  @Test
  void aReleaseNotifiesNobody() throws InterruptedException {
    assertThat(said(LeaseState.HELD, LeaseState.RELEASED))
        .containsExactly(What.ASKS, What.ACQUIRED, What.RELEASES, What.RELEASED);
    // If it does all the same, be it late, that is said of this lease.
    loss.complete(REASON);
    assertThat(events.get(4).what()).isEqualTo(What.NOTIFIED);
    assertThat(events.get(4).cycle()).isEqualTo(1);
  }

  @Test
  void aLossThatIsToldIsSaidOnce() throws InterruptedException {
    loss.complete(REASON);
    assertThat(said(LeaseState.LOST, LeaseState.LOST))
        .containsExactly(What.ASKS, What.NOTIFIED, What.ACQUIRED, What.LOST, What.RELEASED);
  }

  @Test
  void aLossAfterTheLastLookIsSaidToo() throws InterruptedException {
    loss.complete(REASON);
    assertThat(said(LeaseState.HELD, LeaseState.LOST))
        .containsSubsequence(What.RELEASES, What.LOST, What.RELEASED)
        .doesNotContain(What.NOT_NOTIFIED);
  }

  @Test
  void aLossThatIsNotToldIsSaid() throws InterruptedException {
    assertThat(said(LeaseState.LOST, LeaseState.LOST))
        .containsExactly(What.ASKS, What.ACQUIRED, What.LOST, What.NOT_NOTIFIED, What.RELEASED);
  }
}
