package io.amqplocks.spring.internal.guard;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.admin.SlotChange;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.admin.TokenSemaphoreAdmin;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.SemaphoreGuarded;
import io.amqplocks.spring.Workers;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** What docs/OPERATIONS.md says of going from slots to tokens while applications run. */
@BrokerTest(everyLine = true)
class RollingAlgorithmChangeTest {

  private static final int SLOTS = 4;
  private static final Duration AT_MOST = Duration.ofMinutes(1);

  @AutoClose private final LocksOnBroker onBroker;
  private final String name;
  private final Meeting meeting = new Meeting();
  private final ApplicationContextRunner slots;
  private final ApplicationContextRunner tokens;

  RollingAlgorithmChangeTest(Broker broker) {
    onBroker = new LocksOnBroker(broker);
    name = onBroker.name();
    ApplicationContextRunner application =
        onBroker
            .application()
            .withPropertyValues("amqp-locks.semaphores." + name + ".slots=" + SLOTS)
            .withBean(Meeting.class, () -> meeting)
            .withBean(Work.class);
    String algorithm = "amqp-locks.semaphores." + name + ".algorithm=";
    slots = application.withPropertyValues(algorithm + "slots");
    tokens = application.withPropertyValues(algorithm + "tokens");
  }

  /** Counts who is there, and keeps those who are until as many are there as may be. */
  static final class Meeting {
    private final AtomicInteger there = new AtomicInteger();
    private final AtomicInteger most = new AtomicInteger();
    private volatile CountDownLatch all = new CountDownLatch(SLOTS);

    void begin() {
      most.set(0);
      all = new CountDownLatch(SLOTS);
    }

    String attend() throws InterruptedException {
      most.accumulateAndGet(there.incrementAndGet(), Math::max);
      all.countDown();
      assertThat(all.await(AT_MOST.toSeconds(), TimeUnit.SECONDS)).as("slots unused").isTrue();
      LockSupport.parkNanos(1_000_000);
      there.decrementAndGet();
      return "done";
    }
  }

  static class Work {
    private final Meeting meeting;

    Work(Meeting meeting) {
      this.meeting = meeting;
    }

    @SemaphoreGuarded(name = "${test.lock}")
    String work() throws InterruptedException {
      return meeting.attend();
    }
  }

  private void assertExactlyTheSlots(AssertableApplicationContext... applications)
      throws Exception {
    meeting.begin();
    List<Callable<String>> threads =
        Stream.of(applications)
            .map(application -> application.getBean(Work.class))
            .flatMap(work -> IntStream.range(0, 6).<Callable<String>>mapToObj(i -> work::work))
            .toList();
    Workers.run(threads);
    assertThat(meeting.most).hasValue(SLOTS);
  }

  @Test
  void withHalfOfEachThereAreNeverMoreHoldersThanSlots() {
    slots.run(
        before -> {
          assertExactlyTheSlots(before);
          SlotChange halved =
              onBroker.<SlotChange>administer(admin -> admin.slotSemaphore(name).resize(SLOTS / 2));
          assertThat(
                  onBroker.<Boolean>administer(
                      admin ->
                          drained(
                              () ->
                                  admin
                                      .slotSemaphore(name)
                                      .awaitDrained(halved.removed(), AT_MOST))))
              .isTrue();
          assertThat(
                  onBroker.<Integer>administer(
                      admin ->
                          admin
                              .tokenSemaphore(name)
                              .createIfAbsent(SLOTS - SLOTS / 2, TokenQueueType.QUORUM)))
              .isEqualTo(SLOTS / 2);
          tokens.run(after -> assertExactlyTheSlots(before, after));
        });
    tokens.run(
        after -> {
          assertThat(
                  onBroker.<Integer>administer(
                      admin -> {
                        admin.slotSemaphore(name).destroy();
                        TokenSemaphoreAdmin semaphore = admin.tokenSemaphore(name);
                        semaphore.resize(SLOTS);
                        return semaphore.status().tokens();
                      }))
              .isEqualTo(SLOTS);
          assertExactlyTheSlots(after);
        });
  }

  private static boolean drained(Callable<Boolean> wait) {
    try {
      return wait.call();
    } catch (Exception e) {
      throw new AssertionError(e);
    }
  }
}
