package io.amqplocks.spring.internal.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockObserver;
import io.amqplocks.spring.AmqpLocksCustomizer;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.autoconfigure.AmqpLocksObservationAutoConfiguration;
import io.amqplocks.spring.observation.DefaultLockHoldConvention;
import io.amqplocks.spring.observation.LockHoldContext;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.micrometer.common.KeyValues;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** What becomes of the observations by the handler of meters that Boot configures. */
@BrokerTest
class ObservedMetersTest {

  private static final Duration LONG = Duration.ofSeconds(30);

  /** Nine ends of a call, two of a lease. */
  private static final int TIMERS = 11;

  @AutoClose private final LocksOnBroker onBroker;
  private final String name;
  private final Broker broker;
  private final ApplicationContextRunner application;

  ObservedMetersTest(Broker broker) {
    this.broker = broker;
    onBroker = new LocksOnBroker(broker);
    name = onBroker.name();
    application =
        onBroker
            .application()
            .withConfiguration(
                AutoConfigurations.of(
                    ObservationAutoConfiguration.class,
                    AmqpLocksObservationAutoConfiguration.class))
            .withPropertyValues("amqp-locks.mutexes." + name + ".wait=0s");
  }

  private static boolean isTimedOrCounted(Meter.Id id) {
    return id.getType() == Meter.Type.COUNTER || id.getType() == Meter.Type.TIMER;
  }

  private static Set<String> timers(MeterRegistry registry) {
    return ids(registry, id -> id.getType() == Meter.Type.TIMER);
  }

  private static Set<String> ids(MeterRegistry registry, Predicate<Meter.Id> which) {
    return registry.getMeters().stream()
        .map(Meter::getId)
        .filter(id -> id.getName().startsWith("amqp.locks.") && which.test(id))
        .map(Meter.Id::toString)
        .collect(Collectors.toSet());
  }

  private double count(MeterRegistry registry, String meter, String outcome) {
    return registry
        .get(meter)
        .tags("amqp.locks.name", name, "amqp.locks.type", "mutex", "amqp.locks.outcome", outcome)
        .timers()
        .stream()
        .mapToLong(Timer::count)
        .sum();
  }

  @Test
  void eachCallIsCountedOnceAndItsMetersWereThereBefore() {
    application.run(
        context -> {
          MeterRegistry registry = context.getBean(MeterRegistry.class);
          Set<String> before = timers(registry);
          assertThat(before).hasSize(TIMERS);
          LockTemplate locks = context.getBean(LockTemplate.class);
          Lease lease = locks.mutex(name).acquire();
          assertThat(locks.mutex(name).tryAcquire()).isEmpty();
          assertThat(registry.get("amqp.locks.hold.active").longTaskTimer().activeTasks())
              .isEqualTo(1);
          assertThat(registry.get("amqp.locks.held").tag("amqp.locks.name", name).gauge().value())
              .isEqualTo(1);
          lease.close();
          assertThat(count(registry, "amqp.locks.acquire", "acquired")).isEqualTo(1);
          assertThat(count(registry, "amqp.locks.acquire", "busy")).isEqualTo(1);
          assertThat(count(registry, "amqp.locks.acquire", "timeout")).isZero();
          assertThat(count(registry, "amqp.locks.hold", "released")).isEqualTo(1);
          assertThat(timers(registry)).isEqualTo(before);
        });
  }

  @Test
  void aLossIsCounted() {
    application.run(
        context -> {
          MeterRegistry registry = context.getBean(MeterRegistry.class);
          Set<String> counters = ids(registry, id -> id.getType() == Meter.Type.COUNTER);
          Lease lease = context.getBean(LockTemplate.class).mutex(name).acquire();
          broker.faults().deleteQueue(onBroker.mutexQueue());
          await()
              .atMost(LONG)
              .until(
                  () ->
                      registry.get("amqp.locks.hold.lost").counter().count() == 1
                          && count(registry, "amqp.locks.hold", "lost") == 1
                          && registry
                                  .get("amqp.locks.lost")
                                  .tags("amqp.locks.name", name, "amqp.locks.cause", "revoked")
                                  .counter()
                                  .count()
                              == 1);
          lease.close();
          assertThat(count(registry, "amqp.locks.hold", "released")).isZero();
          assertThat(ids(registry, id -> id.getType() == Meter.Type.COUNTER)).isEqualTo(counters);
        });
  }

  /** Also those of what is under way, and of a lock that nothing names beforehand. */
  @Test
  void eachMeterHasADescription() {
    application.run(
        context -> {
          MeterRegistry registry = context.getBean(MeterRegistry.class);
          LockTemplate locks = context.getBean(LockTemplate.class);
          try (Lease named = locks.mutex(name).acquire();
              Lease other = locks.mutex(name + "-other").acquire()) {
            broker.faults().deleteQueue(onBroker.mutexQueue() + "-other");
            await()
                .atMost(LONG)
                .until(
                    () ->
                        other.lossReason().isPresent()
                            && registry
                                    .get("amqp.locks.hold.lost")
                                    .tag("amqp.locks.name", LockMeters.OTHER)
                                    .counter()
                                    .count()
                                == 1);
            assertThat(named.lossReason()).isEmpty();
            assertThat(registry.getMeters())
                .map(Meter::getId)
                .filteredOn(id -> id.getName().startsWith("amqp.locks."))
                .anyMatch(id -> id.getName().equals("amqp.locks.acquire.active"))
                .anyMatch(id -> id.getName().equals("amqp.locks.hold.active"))
                .allSatisfy(id -> assertThat(id.getDescription()).as("%s", id).isNotBlank());
          }
        });
  }

  /** Names the team, as an application may do. */
  static final class TeamConvention extends DefaultLockHoldConvention {
    @Override
    public KeyValues getLowCardinalityKeyValues(LockHoldContext context) {
      return KeyValues.of("team", "images", "end", context.getOutcome());
    }
  }

  @Test
  void aLossHasTheKeysOfTheApplicationsConvention() {
    application
        .withBean(TeamConvention.class)
        .run(
            context -> {
              MeterRegistry registry = context.getBean(MeterRegistry.class);
              Set<String> before = ids(registry, ObservedMetersTest::isTimedOrCounted);
              assertThat(before).anyMatch(id -> id.contains("hold.lost") && id.contains("team"));
              LockTemplate locks = context.getBean(LockTemplate.class);
              locks.mutex(name).acquire().close();
              locks.mutex(name).acquire();
              broker.faults().deleteQueue(onBroker.mutexQueue());
              await()
                  .atMost(LONG)
                  .until(
                      () ->
                          registry.get("amqp.locks.hold").tag("end", "lost").timer().count() == 1
                              && registry
                                      .get("amqp.locks.hold.lost")
                                      .tag("end", "lost")
                                      .counter()
                                      .count()
                                  == 1);
              assertThat(registry.get("amqp.locks.hold").tag("end", "released").timer().count())
                  .isEqualTo(1);
              assertThat(ids(registry, ObservedMetersTest::isTimedOrCounted)).isEqualTo(before);
            });
  }

  @Test
  void anObserverThatACustomizerAddsTakesNothingAway() {
    List<LockId> observed = new CopyOnWriteArrayList<>();
    application
        .withBean(
            AmqpLocksCustomizer.class,
            () ->
                builder ->
                    builder.observer(
                        lock -> {
                          observed.add(lock);
                          return LockObserver.Attempt.NO_OP;
                        }))
        .run(
            context -> {
              context.getBean(LockTemplate.class).mutex(name).execute(() -> {});
              assertThat(observed).containsExactly(LockId.mutex(name));
              MeterRegistry registry = context.getBean(MeterRegistry.class);
              assertThat(count(registry, "amqp.locks.acquire", "acquired")).isEqualTo(1);
              assertThat(count(registry, "amqp.locks.hold", "released")).isEqualTo(1);
            });
  }

  @Test
  void metersHaveTheKeysThatTheApplicationAddsToAllObservations() {
    application
        .withPropertyValues("management.observations.key-values.region=north")
        .run(
            context -> {
              MeterRegistry registry = context.getBean(MeterRegistry.class);
              Set<String> before = timers(registry);
              assertThat(before).hasSize(TIMERS).allMatch(id -> id.contains("region"));
              context.getBean(LockTemplate.class).mutex(name).execute(() -> {});
              assertThat(timers(registry)).isEqualTo(before);
            });
  }

  @Test
  void nothingIsTimedWhereObservationsAreSwitchedOff() {
    application
        .withPropertyValues("management.observations.enable.amqp.locks=false")
        .run(
            context -> {
              context.getBean(LockTemplate.class).mutex(name).execute(() -> {});
              assertThat(timers(context.getBean(MeterRegistry.class))).isEmpty();
            });
  }

  @Test
  void whoWaitsIsAGaugeOfTheLock() throws Exception {
    application
        .withPropertyValues("amqp-locks.mutexes." + name + ".wait=30s")
        .run(
            context -> {
              MeterRegistry registry = context.getBean(MeterRegistry.class);
              LockTemplate locks = context.getBean(LockTemplate.class);
              List<String> made = List.of(name, name + " made up");
              for (String each : made) {
                Lease lease = locks.mutex(each).acquire();
                Thread waiting = new Thread(() -> locks.mutex(each).execute(() -> {}));
                waiting.start();
                String tag = each.equals(name) ? name : LockMeters.OTHER;
                await()
                    .atMost(LONG)
                    .until(
                        () ->
                            registry
                                    .get("amqp.locks.waiting")
                                    .tags("amqp.locks.name", tag, "amqp.locks.type", "mutex")
                                    .gauge()
                                    .value()
                                == 1);
                lease.close();
                waiting.join(LONG.toMillis());
              }
            });
  }
}
