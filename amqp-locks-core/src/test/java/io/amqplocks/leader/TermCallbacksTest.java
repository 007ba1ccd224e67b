package io.amqplocks.leader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.amqplocks.leader.Revocation.Cause;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockId;
import io.amqplocks.support.Unspeakable;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The order of grants, tasks and revocations, without a broker. */
class TermCallbacksTest {

  private static final Revocation YIELD = new Revocation(Cause.YIELDED, "for the test");
  private static final long LONG = Duration.ofSeconds(30).toNanos();

  private final List<String> events = new CopyOnWriteArrayList<>();
  private final CountDownLatch mayGrant = new CountDownLatch(1);

  private final LeaderListener slow =
      new LeaderListener() {
        @Override
        public void granted(Leadership leadership) {
          events.add("granted");
          boolean unused = passed(mayGrant);
        }

        @Override
        public void revoked(Leadership leadership, Revocation revocation) {
          events.add("revoked");
        }
      };

  private final TermCallbacks callbacks =
      new TermCallbacks(
          "test", List.of(slow), term -> events.add("task"), (term, how) -> events.add(how));

  private final Leadership term = new Leadership(lease());

  @AfterEach
  void close() {
    mayGrant.countDown();
    callbacks.close();
  }

  private static Lease lease() {
    return (Lease)
        Proxy.newProxyInstance(
            Lease.class.getClassLoader(),
            new Class<?>[] {Lease.class},
            (proxy, method, arguments) -> LeaseState.HELD);
  }

  private static boolean passed(CountDownLatch latch) {
    try {
      return latch.await(30, java.util.concurrent.TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  @Test
  void aTaskIsNotStartedAfterTheEndOfItsTerm() {
    callbacks.granted(term);
    await().until(() -> events.contains("granted"));
    term.end(YIELD);
    assertThat(callbacks.revoked(term, YIELD, 0)).isFalse();
    assertThat(callbacks.areIdle()).isFalse();
    mayGrant.countDown();
    await().until(callbacks::areIdle);
    assertThat(events).containsExactly("granted", "revoked");
  }

  @Test
  void aTermIsGrantedThenItsTaskRunsThenItIsRevoked() {
    mayGrant.countDown();
    callbacks.granted(term);
    await().until(() -> events.contains("its task returned"));
    term.end(YIELD);
    assertThat(callbacks.revoked(term, YIELD, LONG)).isTrue();
    assertThat(events).containsExactly("granted", "task", "its task returned", "revoked");
  }

  /** Nor does anything depend on the log. */
  @Test
  void aFailureThatCannotBeLoggedKeepsNothingFromTheOthers() {
    LeaderListener failing =
        new LeaderListener() {
          @Override
          public void granted(Leadership leadership) {
            throw new Unspeakable();
          }

          @Override
          public void revoked(Leadership leadership, Revocation revocation) {
            throw new Unspeakable();
          }
        };
    mayGrant.countDown();
    TermCallbacks all =
        new TermCallbacks(
            "test",
            List.of(failing, slow),
            granted -> {
              throw new Unspeakable();
            },
            (ended, how) -> events.add(how));
    all.granted(term);
    await().until(all::areIdle);
    term.end(YIELD);
    assertThat(all.revoked(term, YIELD, LONG)).isTrue();
    all.close();
    assertThat(events)
        .containsExactly("granted", "its task failed: " + Unspeakable.class.getName(), "revoked");
  }

  @Test
  void aFailureThatCannotBeLoggedIsTriedAgainAsAnyOther() {
    ContendingFailures failures = new ContendingFailures(LockId.mutex("m"));
    assertThat(failures.add(new Unspeakable())).isPositive();
    assertThat(failures.add(new Unspeakable())).isPositive();
  }
}
