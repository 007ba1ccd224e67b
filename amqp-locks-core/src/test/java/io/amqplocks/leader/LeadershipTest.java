package io.amqplocks.leader;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.leader.Revocation.Cause;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LossReason;
import java.lang.reflect.Proxy;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** How a term follows from the states of its lease, which are set by hand here. */
class LeadershipTest {

  private final AtomicReference<LeaseState> state = new AtomicReference<>(LeaseState.HELD);

  private final Lease lease =
      (Lease)
          Proxy.newProxyInstance(
              Lease.class.getClassLoader(),
              new Class<?>[] {Lease.class},
              (proxy, method, arguments) ->
                  switch (method.getName()) {
                    case "state" -> state.get();
                    case "lossReason" ->
                        Optional.of(new LossReason(LossReason.Cause.REVOKED, "for the test"));
                    default -> throw new UnsupportedOperationException(method.toString());
                  });

  private final Leadership term = new Leadership(lease);

  /**
   * The lease of a broker that replies late is HELD again, and the application has seen the doubt.
   */
  @Test
  void whatSomebodySawInDoubtIsNeverCurrentAgain() {
    assertThat(term.isCurrent()).isTrue();
    assertThat(term.revocation()).isEmpty();
    state.set(LeaseState.UNCERTAIN);
    assertThat(term.isCurrent()).isFalse();
    state.set(LeaseState.HELD);
    assertThat(term.isCurrent()).isFalse();
    assertThat(term.revocation().orElseThrow().cause()).isEqualTo(Cause.UNCERTAIN);
  }

  @Test
  void doubtThatNobodySawEndsNothing() {
    state.set(LeaseState.UNCERTAIN);
    state.set(LeaseState.HELD);
    assertThat(term.isCurrent()).isTrue();
  }

  @Test
  void theElectionsOwnLookEndsIt() {
    assertThat(term.endIfNotHeld()).isEmpty();
    state.set(LeaseState.UNCERTAIN);
    assertThat(term.endIfNotHeld().orElseThrow().cause()).isEqualTo(Cause.UNCERTAIN);
    state.set(LeaseState.HELD);
    assertThat(term.isCurrent()).isFalse();
  }

  @Test
  void aLossIsSaidWithItsReason() {
    state.set(LeaseState.LOST);
    assertThat(term.isCurrent()).isFalse();
    Revocation why = term.revocation().orElseThrow();
    assertThat(why.cause()).isEqualTo(Cause.LOST);
    assertThat(why.detail()).contains("REVOKED", "for the test");
  }

  @Test
  void aReleasedLockIsALossToWhoLed() {
    state.set(LeaseState.RELEASED);
    assertThat(term.endIfNotHeld().orElseThrow().cause()).isEqualTo(Cause.LOST);
  }

  @Test
  void theFirstReasonStays() {
    Revocation closed = new Revocation(Cause.CLOSED, "for the test");
    assertThat(term.end(closed)).isEqualTo(closed);
    state.set(LeaseState.LOST);
    assertThat(term.isCurrent()).isFalse();
    assertThat(term.end(new Revocation(Cause.YIELDED, "later"))).isEqualTo(closed);
    assertThat(term.revocation()).contains(closed);
  }
}
