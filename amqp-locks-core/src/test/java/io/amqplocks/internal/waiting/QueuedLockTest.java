package io.amqplocks.internal.waiting;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.amqplocks.internal.waiting.QueuedLock.Kind;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.time.Duration;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

@SuppressWarnings("NullAway") // Views need no context.
class QueuedLockTest {

  private static final Claim NO_CLAIM =
      (call, session) -> {
        throw new UnsupportedOperationException();
      };

  private static QueuedLock lock(LockId id, Kind kind) {
    return new QueuedLock(id, kind, Variant.PLAIN, id, null);
  }

  private static Variant variant(AmqpLock view) {
    return ((QueuedLock) view).variant();
  }

  private final QueuedLock tokens =
      lock(
          LockId.tokenSemaphore("s"),
          new Kind() {
            @Override
            public Claim claim(Variant variant) {
              return NO_CLAIM;
            }

            @Override
            public boolean hasPriorities() {
              return true;
            }

            @Override
            public boolean hasPermits() {
              return true;
            }
          });

  @Test
  void viewsAddUpInAnyOrder() {
    Duration limit = Duration.ofMinutes(9);
    Variant all = new Variant(true, 7, false, 3, true, limit);
    assertThat(
            variant(
                tokens
                    .holdAtMost(limit)
                    .failFast()
                    .fenced()
                    .withPriority(7)
                    .unfair()
                    .withPermits(3)))
        .isEqualTo(all);
    assertThat(
            variant(
                tokens
                    .withPermits(3)
                    .unfair()
                    .withPriority(7)
                    .fenced()
                    .failFast()
                    .holdAtMost(limit)))
        .isEqualTo(all);
    assertThat(variant(tokens)).as("a view changes nothing").isEqualTo(Variant.PLAIN);
    assertThat(tokens.unfair().id()).isEqualTo(tokens.id());
  }

  /** Else waiters of the other fairness would give up the place of this process at the broker. */
  @Test
  void fairnessIsNoMatterOfTheBroker() {
    assertThat(Variant.PLAIN.asksTheSameAs(new Variant(false, 0, false, 1, false, null))).isTrue();
    assertThat(Variant.PLAIN.asksTheSameAs(new Variant(true, 0, true, 1, false, null))).isFalse();
    assertThat(Variant.PLAIN.asksTheSameAs(new Variant(false, 1, true, 1, false, null))).isFalse();
  }

  @Test
  void othersHaveNoPrioritiesAndOnePermit() {
    QueuedLock mutex = lock(LockId.mutex("m"), variant -> NO_CLAIM);
    assertThatThrownBy(() -> mutex.withPriority(1))
        .isInstanceOf(LockException.Invalid.class)
        .hasMessageContaining("mutex 'm'");
    assertThatThrownBy(() -> mutex.withPermits(2))
        .isInstanceOf(LockException.Invalid.class)
        .hasMessageContaining("mutex 'm'");
    assertThat(variant(mutex.withPermits(1))).isEqualTo(Variant.PLAIN);
  }

  /** Handlers of an application read the lock there. A message is for people. */
  @Test
  void anErrorForAWrongArgumentNamesTheLock() {
    QueuedLock mutex = lock(LockId.mutex("m"), variant -> NO_CLAIM);
    Duration negative = Duration.ofMillis(-1);
    Stream.<ThrowingCallable>of(
            () -> mutex.withPriority(1),
            () -> mutex.withPermits(0),
            () -> mutex.withPermits(2),
            () -> mutex.withPermits(AmqpLock.MAX_PERMITS + 1),
            () -> mutex.holdAtMost(Duration.ZERO),
            () -> mutex.acquire(negative),
            () -> mutex.acquireAsync(negative))
        .forEach(
            wrong ->
                assertThatExceptionOfType(LockException.Invalid.class)
                    .isThrownBy(wrong)
                    .satisfies(e -> assertThat(e.lock()).contains(mutex.id())));
  }
}
