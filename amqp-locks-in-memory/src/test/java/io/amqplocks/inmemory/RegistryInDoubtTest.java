package io.amqplocks.inmemory;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.spring.integration.AmqpLockRegistry;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Test;

/** Spring Integration's registry while nobody knows whether its locks are held. */
@SuppressWarnings("LockNotBeforeTry") // What locking and unlocking do is what is tested.
class RegistryInDoubtTest {

  private static final LockId KEY = LockId.mutex("orders:key");

  @Test
  void nothingIsRenewedOrAcquiredAgainUntilTheBrokerAnswers() {
    try (InMemoryLocks locks = InMemoryLocks.create()) {
      AmqpLockRegistry registry = new AmqpLockRegistry(locks, "orders");
      Lock lock = registry.obtain("key");
      lock.lock();
      assertThat(locks.uncertain(KEY)).isOne();
      assertThatThrownBy(() -> registry.renewLock("key"))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("is UNCERTAIN and cannot be renewed")
          .hasMessageContaining("try again");
      assertThatThrownBy(lock::tryLock).isInstanceOf(LockException.Unanswered.class);
      assertThat(locks.certain(KEY)).isOne();
      registry.renewLock("key");
      assertThat(lock.tryLock()).isTrue();
      lock.unlock();
      lock.unlock();
      assertThat(locks.leases()).isEmpty();
    }
  }
}
