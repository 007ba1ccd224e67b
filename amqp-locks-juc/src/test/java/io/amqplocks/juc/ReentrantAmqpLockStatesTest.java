package io.amqplocks.juc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The view in states that a test cannot bring about at a broker at once. */
@SuppressWarnings("LockNotBeforeTry") // What locking and unlocking do is what is tested.
@Timeout(value = 1, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ReentrantAmqpLockStatesTest {

  private LeaseState state = LeaseState.HELD;
  private boolean interruptedAtBroker;
  private int attempts;

  private final Lease lease =
      proxy(
          Lease.class,
          (proxy, method, arguments) ->
              switch (method.getName()) {
                case "state", "verify" -> state;
                case "lock" -> LockId.mutex("orders");
                case "close" -> {
                  state = LeaseState.RELEASED;
                  yield null;
                }
                default -> throw new UnsupportedOperationException(method.getName());
              });

  private final AmqpLock lock =
      proxy(
          AmqpLock.class,
          (proxy, method, arguments) ->
              switch (method.getName()) {
                case "id" -> LockId.mutex("orders");
                case "tryAcquire" -> {
                  failIfInterruptedAtBroker();
                  yield Optional.of(lease);
                }
                case "acquire" -> {
                  attempts++;
                  failIfInterruptedAtBroker();
                  throw new InterruptedException("always");
                }
                default -> throw new UnsupportedOperationException(method.getName());
              });

  /** As the first user of a fenced mutex is, which waits for an administrator. */
  private void failIfInterruptedAtBroker() {
    if (interruptedAtBroker) {
      Thread.currentThread().interrupt();
      throw new LockException.Interrupted("Interrupted while waiting to administer");
    }
  }

  private static <T> T proxy(Class<T> type, InvocationHandler handler) {
    return type.cast(Proxy.newProxyInstance(type.getClassLoader(), new Class<?>[] {type}, handler));
  }

  private ReentrantAmqpLock view(Duration longestWait) {
    return new ReentrantLocks(longestWait).of(lock);
  }

  @Test
  @SuppressWarnings("NullAway") // As code without checks may call it.
  void aMissingLockIsRefusedWhenItIsGiven() {
    ReentrantLocks reentrant = new ReentrantLocks(Duration.ofMinutes(5));
    assertThatThrownBy(() -> reentrant.of(null)).isInstanceOf(NullPointerException.class);
  }

  @Test
  void anUncertainLeaseIsNotSaidToBeHeldAndIsReleasedWithoutAnError() {
    ReentrantAmqpLock view = view(Duration.ofMinutes(5));
    assertThat(view.tryLock()).isTrue();
    assertThat(view.isHeldByCurrentThread()).isTrue();
    state = LeaseState.UNCERTAIN;
    assertThat(view.isHeldByCurrentThread()).isFalse();
    assertThat(view.getHoldCount()).isOne();
    assertThatThrownBy(view::tryLock).isInstanceOf(LockException.Unanswered.class);
    view.unlock();
    assertThat(state).isEqualTo(LeaseState.RELEASED);
    assertThat(view.getHoldCount()).isZero();
  }

  @Test
  void whoIsInterruptedWithoutEndDoesNotWaitWithoutEnd() {
    assertThatThrownBy(view(Duration.ofMillis(50))::lock)
        .isInstanceOf(LockException.AcquireTimeout.class)
        .hasMessageContaining("mutex 'orders'")
        .hasMessageContaining("PT0.05S")
        .satisfies(
            failure ->
                assertThat(((LockException) failure).lock()).contains(LockId.mutex("orders")));
    assertThat(attempts).isGreaterThan(1);
    assertThat(Thread.interrupted()).isTrue();
  }

  @Test
  void anInterruptIsAlwaysTheOneThatTheInterfaceDeclares() {
    interruptedAtBroker = true;
    ReentrantAmqpLock view = view(Duration.ofMinutes(5));
    for (ThrowingCallable call :
        List.<ThrowingCallable>of(
            view::lockInterruptibly,
            () -> view.tryLock(1, TimeUnit.SECONDS),
            () -> view.tryLock(0, TimeUnit.SECONDS))) {
      assertThatThrownBy(call)
          .isInstanceOf(InterruptedException.class)
          .hasMessageContaining("administer")
          .hasCauseInstanceOf(LockException.Interrupted.class);
      assertThat(Thread.interrupted()).isFalse();
    }
    // It declares none.
    assertThatThrownBy(view::tryLock).isInstanceOf(LockException.Interrupted.class);
    assertThat(Thread.interrupted()).isTrue();
  }
}
