package io.amqplocks.juc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LossReason;
import java.lang.reflect.Proxy;
import java.util.Optional;
import org.junit.jupiter.api.Test;

/** Locking again, in each state that a lease may be in. */
class HoldTest {

  private LeaseState state = LeaseState.HELD;
  private LeaseState verified = LeaseState.HELD;
  private int verifications;
  private final Hold hold =
      new Hold(
          (Lease)
              Proxy.newProxyInstance(
                  Lease.class.getClassLoader(),
                  new Class<?>[] {Lease.class},
                  (proxy, method, arguments) ->
                      switch (method.getName()) {
                        case "state" -> state;
                        case "verify" -> verify();
                        case "lossReason" ->
                            Optional.of(new LossReason(LossReason.Cause.SESSION_ENDED, "cut"));
                        case "lock" -> LockId.mutex("orders");
                        default -> throw new UnsupportedOperationException(method.getName());
                      }));

  private LeaseState verify() {
    verifications++;
    return verified;
  }

  private static void namesTheLock(Throwable failure) {
    assertThat(((LockException) failure).lock()).contains(LockId.mutex("orders"));
  }

  @Test
  void aHeldLeaseIsEnteredWithoutAskingTheBroker() {
    hold.reenter();
    assertThat(hold.count()).isEqualTo(2);
    assertThat(verifications).isZero();
  }

  @Test
  void inDoubtTheBrokerIsAsked() {
    state = LeaseState.UNCERTAIN;
    hold.reenter();
    assertThat(hold.count()).isEqualTo(2);
    assertThat(verifications).isOne();
  }

  @Test
  void withoutAnAnswerNothingIsEntered() {
    state = LeaseState.UNCERTAIN;
    verified = LeaseState.UNCERTAIN;
    assertThatThrownBy(hold::reenter)
        .isInstanceOf(LockException.Unanswered.class)
        .hasMessageContaining("mutex 'orders'")
        .hasMessageContaining("try again, or unlock")
        .satisfies(HoldTest::namesTheLock);
    assertThat(hold.count()).isOne();
  }

  @Test
  void aLostLeaseIsNotEntered() {
    state = LeaseState.UNCERTAIN;
    verified = LeaseState.LOST;
    assertThatThrownBy(hold::reenter)
        .isInstanceOf(LockException.Lost.class)
        .hasMessageContaining("mutex 'orders'")
        .hasMessageContaining("SESSION_ENDED")
        .satisfies(HoldTest::namesTheLock);
    state = LeaseState.RELEASED;
    assertThatThrownBy(hold::reenter).isInstanceOf(LockException.Lost.class);
    assertThat(hold.count()).isOne();
  }
}
