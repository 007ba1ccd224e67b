package io.amqplocks.spring.internal.observation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.SemaphoreGuarded;
import io.amqplocks.spring.autoconfigure.AmqpLocksObservationAutoConfiguration;
import io.amqplocks.spring.internal.catalog.MetricNames;
import io.amqplocks.spring.observation.DefaultLockAcquireConvention;
import io.amqplocks.spring.observation.LockAcquireContext;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.micrometer.common.KeyValues;
import io.micrometer.observation.Observation;
import io.micrometer.observation.tck.TestObservationRegistry;
import io.micrometer.observation.tck.TestObservationRegistryAssert;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

@BrokerTest
class LockObservationsTest {

  private static final Duration LONG = Duration.ofSeconds(30);
  private static final String ACQUIRE = "amqp.locks.acquire";
  private static final String HOLD = "amqp.locks.hold";
  private static final String NAME = "amqp.locks.name";
  private static final String TYPE = "amqp.locks.type";
  private static final String OUTCOME = "amqp.locks.outcome";

  @AutoClose private final LocksOnBroker onBroker;
  private final String name;
  private final Broker broker;
  private final TestObservationRegistry registry = TestObservationRegistry.create();
  private final ApplicationContextRunner application;

  LockObservationsTest(Broker broker) {
    this.broker = broker;
    onBroker = new LocksOnBroker(broker);
    name = onBroker.name();
    application =
        onBroker
            .application()
            .withConfiguration(AutoConfigurations.of(AmqpLocksObservationAutoConfiguration.class))
            .withPropertyValues("amqp-locks.mutexes." + name + ".wait=0s")
            .withBean(TestObservationRegistry.class, () -> registry)
            .withBean(Guarded.class);
  }

  static class Guarded {
    @SemaphoreGuarded(name = "${test.lock}", slots = 2)
    public void upload() {}

    @MutexGuarded(name = "orders", key = "#order")
    public void ship(String order) {}
  }

  private TestObservationRegistryAssert observed() {
    return TestObservationRegistryAssert.assertThat(registry);
  }

  @Test
  void anAnnotatedMethod() {
    application.run(
        context -> {
          Observation request = Observation.start("request", registry);
          request.scoped(() -> context.getBean(Guarded.class).upload());
          request.stop();
          observed()
              .hasObservationWithNameEqualTo(ACQUIRE)
              .that()
              .hasLowCardinalityKeyValue(NAME, name)
              .hasLowCardinalityKeyValue(TYPE, "token semaphore")
              .hasLowCardinalityKeyValue(OUTCOME, "acquired")
              .hasHighCardinalityKeyValueWithKey("amqp.locks.slot")
              .hasParentObservationEqualTo(request)
              .doesNotHaveError()
              .hasBeenStarted()
              .hasBeenStopped();
          observed()
              .hasObservationWithNameEqualTo(HOLD)
              .that()
              .hasLowCardinalityKeyValue(NAME, name)
              .hasLowCardinalityKeyValue(OUTCOME, "released")
              .hasContextualNameEqualTo("hold token semaphore '" + name + "'")
              .hasParentObservationEqualTo(request)
              .hasBeenStopped();
          observed().hasNumberOfObservationsEqualTo(3);
        });
  }

  @Test
  void aKeyIsNoTag() {
    application.run(
        context -> {
          context.getBean(Guarded.class).ship("4711");
          for (String observation : new String[] {ACQUIRE, HOLD}) {
            observed()
                .hasObservationWithNameEqualTo(observation)
                .that()
                .hasLowCardinalityKeyValue(NAME, "orders")
                .hasHighCardinalityKeyValue("amqp.locks.lock", "orders:4711");
          }
        });
  }

  @Test
  void callsThatBringNoLease() {
    application.run(
        context -> {
          LockTemplate locks = context.getBean(LockTemplate.class);
          Lease lease = locks.mutex(name).acquire();
          registry.clear();
          assertThat(locks.mutex(name).tryAcquire()).isEmpty();
          observed()
              .hasSingleObservationThat()
              .hasLowCardinalityKeyValue(OUTCOME, "busy")
              .doesNotHaveError();
          registry.clear();
          // Without a wait, which is the default here, it is told as by tryAcquire().
          assertThatThrownBy(() -> locks.mutex(name).acquire())
              .isInstanceOf(LockException.AcquireTimeout.class);
          observed()
              .hasSingleObservationThat()
              .hasLowCardinalityKeyValue(OUTCOME, "busy")
              .doesNotHaveError();
          registry.clear();
          assertThatThrownBy(() -> locks.mutex(name).waiting(Duration.ofMillis(50)).acquire())
              .isInstanceOf(LockException.AcquireTimeout.class);
          observed()
              .hasSingleObservationThat()
              .hasLowCardinalityKeyValue(OUTCOME, "timeout")
              .assertThatError()
              .isInstanceOf(LockException.AcquireTimeout.class);
          registry.clear();
          Thread.currentThread().interrupt();
          assertThatThrownBy(() -> locks.mutex(name).waiting(LONG).acquire())
              .isInstanceOf(LockException.Interrupted.class);
          assertThat(Thread.interrupted()).isTrue();
          observed().hasSingleObservationThat().hasLowCardinalityKeyValue(OUTCOME, "interrupted");
          registry.clear();
          assertThatThrownBy(() -> locks.persistentMutex(name).acquire())
              .isInstanceOf(LockException.NotFound.class);
          observed()
              .hasSingleObservationThat()
              .hasLowCardinalityKeyValue(NAME, MetricNames.OTHER)
              .hasHighCardinalityKeyValue("amqp.locks.lock", name)
              .hasLowCardinalityKeyValue(OUTCOME, "error")
              .hasError();
          lease.close();
        });
  }

  @Test
  void aLossIsAnEvent() {
    application.run(
        context -> {
          Lease lease = context.getBean(LockTemplate.class).mutex(name).acquire();
          broker.faults().deleteQueue(onBroker.mutexQueue());
          await()
              .atMost(LONG)
              .untilAsserted(
                  () ->
                      observed()
                          .hasObservationWithNameEqualTo(HOLD)
                          .that()
                          .hasEvent("lost", "lost: revoked")
                          .hasLowCardinalityKeyValue(OUTCOME, "lost")
                          .hasBeenStopped());
          lease.close();
        });
  }

  @Test
  void anAsynchronousCallHasTheParentOfItsBeginning() {
    application.run(
        context -> {
          AmqpLocks locks = context.getBean(AmqpLocks.class);
          Observation request = Observation.start("request", registry);
          CompletableFuture<Lease> call;
          try (Observation.Scope scope = request.openScope()) {
            assertThat(scope).isNotNull();
            call = locks.fencedMutex(name).acquireAsync(LONG);
          }
          Lease lease = call.get(30, TimeUnit.SECONDS);
          lease.close();
          request.stop();
          observed()
              .hasObservationWithNameEqualTo(HOLD)
              .that()
              .hasParentObservationEqualTo(request)
              .hasHighCardinalityKeyValue(
                  "amqp.locks.fencing.token", lease.fencingToken().toString())
              .hasLowCardinalityKeyValue(OUTCOME, "released")
              .hasBeenStopped();
        });
  }

  static class ShortConvention extends DefaultLockAcquireConvention {
    @Override
    public String getName() {
      return "lock.wait";
    }

    @Override
    public KeyValues getLowCardinalityKeyValues(LockAcquireContext context) {
      return KeyValues.of("lock", context.getLockName());
    }
  }

  @Test
  void aConventionCanBeReplaced() {
    application
        .withBean(ShortConvention.class)
        .run(
            context -> {
              context.getBean(Guarded.class).upload();
              observed()
                  .doesNotHaveAnyRemainingCurrentObservation()
                  .hasObservationWithNameEqualTo("lock.wait")
                  .that()
                  .hasLowCardinalityKeyValue("lock", name)
                  .doesNotHaveLowCardinalityKeyValueWithKey(OUTCOME);
            });
  }
}
