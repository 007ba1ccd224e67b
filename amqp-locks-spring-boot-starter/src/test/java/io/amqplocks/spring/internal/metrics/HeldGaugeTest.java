package io.amqplocks.spring.internal.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LossReason;
import io.amqplocks.spring.SemaphoreAlgorithm;
import io.amqplocks.spring.internal.catalog.LockCatalog;
import io.amqplocks.spring.internal.catalog.LockSettings;
import io.amqplocks.spring.internal.naming.FamilyId;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;

class HeldGaugeTest {

  private static final Duration SOME = Duration.ofMillis(1);
  private static final LockId IMAGES = LockId.slotSemaphore("images");

  private final MeterRegistry registry = new SimpleMeterRegistry();
  private final LockCatalog catalog = new LockCatalog(Duration.ofSeconds(1));
  private final LockMeters meters = new LockMeters(registry, catalog);

  private static final class Images implements Lease {
    private final int permits;
    private LeaseState state = LeaseState.HELD;

    Images() {
      this(1);
    }

    Images(int permits) {
      this.permits = permits;
    }

    @Override
    public int permits() {
      return permits;
    }

    @Override
    public LockId lock() {
      return IMAGES;
    }

    @Override
    public int slot() {
      return 1;
    }

    @Override
    public Optional<FencingToken> fencingTokenIfAny() {
      return Optional.empty();
    }

    @Override
    public FencingToken fencingToken() {
      throw new LockException.NotFenced("not fenced");
    }

    @Override
    public LeaseState state() {
      return state;
    }

    @Override
    public LeaseState verify() {
      return state;
    }

    @Override
    public Optional<LossReason> lossReason() {
      return Optional.empty();
    }

    @Override
    public CompletionStage<LossReason> whenLost() {
      return new CompletableFuture<>();
    }

    @Override
    public Duration age() {
      return SOME;
    }

    @Override
    public void close() {
      state = LeaseState.RELEASED;
    }
  }

  private void declare(String method) {
    catalog.add(
        LockSettings.annotated(FamilyId.of(IMAGES), method).algorithm(SemaphoreAlgorithm.SLOTS));
    assertThat(catalog.semaphore("images")).isEqualTo(IMAGES);
  }

  private double held(String name) {
    return registry
        .get("amqp.locks.held")
        .tags("amqp.locks.name", name, "amqp.locks.type", "slot semaphore")
        .gauge()
        .value();
  }

  @Test
  void aReleaseThatWasNotToldStillCounts() {
    declare("a method");
    Images one = new Images();
    Images two = new Images();
    meters.acquired(one, SOME);
    meters.acquired(two, SOME);
    assertThat(held("images")).isEqualTo(2);
    one.close();
    assertThat(held("images")).isEqualTo(1);
    two.state = LeaseState.UNCERTAIN;
    assertThat(held("images")).isEqualTo(1);
  }

  /** As many as the lease takes of the gauge of slots. */
  @Test
  void eachPermitCounts() {
    declare("a method");
    Images three = new Images(3);
    meters.acquired(three, SOME);
    meters.acquired(new Images(), SOME);
    assertThat(held("images")).isEqualTo(4);
    meters.released(three, SOME);
    assertThat(held("images")).isEqualTo(1);
  }

  @Test
  void anAcquireThatWasNotToldMakesNothingNegative() {
    declare("a method");
    Images lease = new Images();
    lease.close();
    meters.released(lease, SOME);
    assertThat(held("images")).isZero();
  }

  @Test
  void aLockThatIsDeclaredWhileItIsHeld() {
    try (Images lease = new Images()) {
      meters.acquired(lease, SOME);
      declare("a method of a late bean");
      assertThat(held(LockMeters.OTHER)).isEqualTo(1);
      assertThat(held("images")).isZero();
      meters.released(lease, SOME);
    }
    assertThat(held(LockMeters.OTHER)).isZero();
    assertThat(held("images")).isZero();
    assertThat(
            registry
                .get("amqp.locks.hold")
                .tag("amqp.locks.name", LockMeters.OTHER)
                .tag("amqp.locks.type", "slot semaphore")
                .tag("amqp.locks.outcome", "released")
                .timer()
                .count())
        .isEqualTo(1);
  }
}
