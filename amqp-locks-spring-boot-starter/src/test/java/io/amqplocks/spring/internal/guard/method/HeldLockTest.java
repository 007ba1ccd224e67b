package io.amqplocks.spring.internal.guard.method;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.OnBusy;
import io.amqplocks.spring.OnLost;
import io.amqplocks.spring.OnUnavailable;
import io.amqplocks.spring.ReleaseAfter;
import io.amqplocks.spring.internal.guard.declared.Permits;
import io.amqplocks.spring.internal.naming.FamilyId;
import io.amqplocks.spring.internal.nesting.OuterLease;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is made of leases at the end, of each state that a broker can leave them in. */
class HeldLockTest {

  private final List<String> asked = new ArrayList<>();

  private HeldLock held(OnLost onLost, LeaseState now, LeaseState verified) {
    Guard guard =
        new Guard(
            FamilyId.mutex("m"),
            null,
            Permits.ONE,
            Duration.ZERO,
            Duration.ZERO,
            null,
            0,
            false,
            true,
            OnBusy.WAIT,
            OnUnavailable.WAIT,
            null,
            onLost,
            ReleaseAfter.METHOD,
            null);
    Lease lease =
        (Lease)
            Proxy.newProxyInstance(
                HeldLockTest.class.getClassLoader(),
                new Class<?>[] {Lease.class},
                (proxy, method, arguments) -> {
                  asked.add(method.getName());
                  return switch (method.getName()) {
                    case "state" -> now;
                    case "verify" -> verified;
                    case "lossReason" -> Optional.empty();
                    case "close" -> throw new IllegalStateException("from close");
                    default -> throw new AssertionError(method);
                  };
                });
    LockRequest request = new LockRequest(guard, "", LockTemplate.withoutLocks().mutex("m"), 1);
    return new HeldLock(request, lease, OuterLease.ofThread(request.wanted(), lease));
  }

  @ParameterizedTest
  @CsvSource({
    "HELD,      HELD,      false, ",
    "HELD,      LOST,      false, Lost",
    "HELD,      UNCERTAIN, false, Unconfirmed",
    "UNCERTAIN, HELD,      false, ",
    "UNCERTAIN, LOST,      false, Lost",
    "UNCERTAIN, UNCERTAIN, false, Unconfirmed",
    "LOST,      LOST,      false, Lost",
    "HELD,      LOST,      true, ",
    "UNCERTAIN, LOST,      true, ",
    "LOST,      LOST,      true, Lost",
    "RELEASED,  RELEASED,  false, Lost",
    "RELEASED,  RELEASED,  true, Lost",
    "HELD,      RELEASED,  false, Lost"
  })
  void theStateDecides(
      LeaseState now, LeaseState verified, boolean thrown, @Nullable String outcome) {
    IllegalArgumentException own = thrown ? new IllegalArgumentException() : null;
    LockException loss =
        HeldLock.loss(List.of(held(OnLost.FAIL, now, verified)), own, "Work.work()");
    assertThat(loss == null ? null : loss.getClass().getSimpleName()).isEqualTo(outcome);
    if (loss != null) {
      assertThat(loss).hasMessageContaining("mutex 'm'").hasMessageContaining("Work.work()");
      assertThat(loss.getCause()).isSameAs(own);
      assertThat(loss.lock()).contains(LockId.mutex("m"));
      assertThat(loss.isOutage()).as("the work was done").isFalse();
    }
    // The broker is asked for a result, and not for a failure that is to be told anyway.
    assertThat(asked.contains("verify")).isEqualTo(!thrown && now != LeaseState.LOST);
  }

  @Test
  void whereItIsOnlyToBeNotifiedNobodyIsAsked() {
    assertThat(
            HeldLock.loss(
                List.of(held(OnLost.NOTIFY, LeaseState.LOST, LeaseState.LOST)), null, "Work"))
        .isNull();
    assertThat(asked).isEmpty();
  }

  @Test
  void oneThatCannotBeClosedDoesNotKeepTheOthers() {
    List<HeldLock> three =
        Stream.generate(() -> held(OnLost.NOTIFY, LeaseState.HELD, LeaseState.HELD))
            .limit(3)
            .toList();
    assertThatExceptionOfType(IllegalStateException.class)
        .isThrownBy(() -> HeldLock.close(three, true))
        .satisfies(e -> assertThat(e.getSuppressed()).hasSize(2));
    assertThat(asked).containsExactly("close", "close", "close");
  }
}
