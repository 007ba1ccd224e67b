package io.amqplocks.spring.internal.guard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockKind;
import io.amqplocks.lock.LockListener;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.MutexAlgorithm;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.SemaphoreAlgorithm;
import io.amqplocks.spring.SemaphoreGuarded;
import io.amqplocks.spring.Workers;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import org.awaitility.core.ConditionFactory;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** Guarded methods that name an algorithm or a priority, in applications on a broker. */
@BrokerTest(everyLine = true)
class AlgorithmBehaviourTest {

  @AutoClose private final LocksOnBroker onBroker;
  private final String name;
  private final List<Lease> acquired = new CopyOnWriteArrayList<>();
  private final ApplicationContextRunner application;

  AlgorithmBehaviourTest(Broker broker) {
    onBroker = new LocksOnBroker(broker);
    name = onBroker.name();
    LockListener listener =
        new LockListener() {
          @Override
          public void acquired(Lease lease, Duration waited) {
            acquired.add(lease);
          }
        };
    application =
        onBroker.application().withBean(LockListener.class, () -> listener).withBean(Work.class);
  }

  static class Work {
    private final List<String> order = new CopyOnWriteArrayList<>();

    /** Fields are not to be had through a proxy. */
    List<String> order() {
      return order;
    }

    @SemaphoreGuarded(name = "${test.lock}", slots = 1)
    String byDefault(Callable<String> work) throws Exception {
      return work.call();
    }

    @SemaphoreGuarded(name = "${test.lock}-slots", slots = 2, algorithm = SemaphoreAlgorithm.SLOTS)
    String slots(Callable<String> work) throws Exception {
      return work.call();
    }

    @MutexGuarded(name = "${test.lock}", algorithm = MutexAlgorithm.TOKENS)
    String fenced(Callable<String> work) throws Exception {
      return work.call();
    }

    @MutexGuarded(name = "${test.lock}-turns")
    String fairly(String who, Runnable work) {
      order.add(who);
      work.run();
      return "done";
    }

    @MutexGuarded(name = "${test.lock}-turns", fair = false)
    String unfairly(String who, Runnable work) {
      return fairly(who, work);
    }

    @SemaphoreGuarded(name = "${test.lock}", priority = -1)
    String idly() {
      order.add("idly");
      return "done";
    }

    @SemaphoreGuarded(name = "${test.lock}", priority = 7)
    String urgently() {
      order.add("urgently");
      return "done";
    }
  }

  private String oneIsInUse() {
    onBroker.awaitInUse(1);
    return "in use";
  }

  private int heldOf(LockKind kind) {
    return (int) acquired.stream().filter(lease -> lease.lock().kind() == kind).count();
  }

  @Test
  void tokensByDefaultAndSlotsIfAskedFor() {
    application.run(
        context -> {
          Work work = context.getBean(Work.class);
          assertThat(onBroker.tokens()).isEqualTo(1);
          assertThat(work.byDefault(this::oneIsInUse)).isEqualTo("in use");
          String slots = name + "-slots";
          assertThat(onBroker.<Integer>administer(admin -> admin.slotSemaphore(slots).count()))
              .isEqualTo(2);
          assertThat(onBroker.<Integer>administer(admin -> admin.tokenSemaphore(slots).count()))
              .isZero();
          assertThat(
                  work.slots(
                      () ->
                          "held: "
                              + onBroker
                                  .administer(admin -> admin.slotSemaphore(slots).holders())
                                  .size()))
              .isEqualTo("held: 1");
          await().until(() -> acquired.size() == 2);
          assertThat(acquired)
              .extracting(lease -> lease.lock().kind())
              .containsExactly(LockKind.TOKEN_SEMAPHORE, LockKind.SLOT_SEMAPHORE);
        });
  }

  @Test
  void aMutexOfTokensHasAFencingTokenThatRises() {
    application.run(
        context -> {
          Work work = context.getBean(Work.class);
          assertThat(onBroker.queues()).as("made at first use").noneMatch(this::isFencedMutex);
          AmqpLocks locks = context.getBean(AmqpLocks.class);
          for (int i = 0; i < 3; i++) {
            assertThat(work.fenced(() -> "held: " + locks.status().held())).isEqualTo("held: 1");
          }
          await().until(() -> acquired.size() == 3);
          assertThat(acquired)
              .extracting(lease -> lease.fencingToken().number())
              .isSorted()
              .doesNotHaveDuplicates();
          assertThat(heldOf(LockKind.FENCED_MUTEX)).isEqualTo(3);
          assertThat(onBroker.queues()).anyMatch(this::isFencedMutex);
        });
  }

  private boolean isFencedMutex(String queue) {
    return queue.contains(".fenced-mutex.");
  }

  @Test
  void theUrgentIsServedFirst() {
    application.run(
        context -> {
          Work work = context.getBean(Work.class);
          AmqpLocks locks = context.getBean(AmqpLocks.class);
          Lease only = context.getBean(LockTemplate.class).semaphore(name).acquire();
          Workers.run(
              List.of(
                  work::idly,
                  () -> {
                    await().until(() -> locks.status().waiting() == 1);
                    return work.urgently();
                  },
                  () -> {
                    // By then the head of those who wait is the urgent one, also at the broker.
                    await()
                        .during(Duration.ofSeconds(2))
                        .until(() -> locks.status().waiting() == 2);
                    only.close();
                    return "done";
                  }));
          assertThat(work.order()).containsExactly("urgently", "idly");
        });
  }

  /** Nobody is overtaken who has waited for a tenth of a second. */
  private static ConditionFactory soon() {
    return await().pollInterval(Duration.ofMillis(1));
  }

  private static String turn(Work work, boolean fair, String who, Runnable meanwhile) {
    return fair ? work.fairly(who, meanwhile) : work.unfairly(who, meanwhile);
  }

  /** One that waits is overtaken by one that releases and at once acquires again. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void callsOvertakeEachOtherOnlyIfTheyAreUnfair(boolean fair) {
    application.run(
        context -> {
          Work work = context.getBean(Work.class);
          AmqpLocks locks = context.getBean(AmqpLocks.class);
          int overtaken = 0;
          for (int round = 0; round < 200 && overtaken == 0; round++) {
            work.order().clear();
            Workers.run(
                List.of(
                    () -> {
                      turn(
                          work,
                          fair,
                          "first",
                          () -> soon().until(() -> locks.status().waiting() == 1));
                      return turn(work, fair, "again", () -> {});
                    },
                    () -> {
                      soon().until(() -> !work.order().isEmpty());
                      return turn(work, fair, "waiter", () -> {});
                    }));
            overtaken += work.order().indexOf("again") == 1 ? 1 : 0;
            if (fair && round == 20) {
              break;
            }
          }
          assertThat(overtaken).isEqualTo(fair ? 0 : 1);
        });
  }

  @Test
  void operationsWithAPriorityAndAFence() {
    application.run(
        context -> {
          LockTemplate locks = context.getBean(LockTemplate.class);
          try (Lease lease = locks.semaphore(name).fenced().withPriority(2).acquire()) {
            assertThat(lease.lock().kind()).isEqualTo(LockKind.TOKEN_SEMAPHORE);
            assertThat(lease.fencingToken().slot()).isEqualTo(1);
          }
          try (Lease lease = locks.mutex(name).acquire()) {
            assertThat(lease.lock().kind()).isEqualTo(LockKind.FENCED_MUTEX);
          }
        });
  }
}
