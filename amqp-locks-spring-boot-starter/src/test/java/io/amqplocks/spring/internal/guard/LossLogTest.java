package io.amqplocks.spring.internal.guard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.spring.LeaseLostEvent;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.ReleaseAfter;
import io.amqplocks.spring.SemaphoreGuarded;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Isolated;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.event.EventListener;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;
import reactor.core.publisher.Mono;

/** What an operator reads of a lease that was lost, where nothing else is configured. */
@BrokerTest
@Isolated
@ExtendWith(OutputCaptureExtension.class)
@Tag("defect-B4")
class LossLogTest {

  private static final String WHY = "for the test";

  @AutoClose private final LocksOnBroker onBroker;

  LossLogTest(Broker broker) {
    onBroker = new LocksOnBroker(broker);
  }

  static class Work {
    private final CountDownLatch begun = new CountDownLatch(2);
    private final CountDownLatch end = new CountDownLatch(1);

    boolean haveBothBegun() {
      return begun.getCount() == 0;
    }

    void end() {
      end.countDown();
    }

    private String untilTheEnd() {
      begun.countDown();
      try {
        assertThat(end.await(30, TimeUnit.SECONDS)).isTrue();
        return "done";
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }

    @MutexGuarded(name = "${test.lock}", key = "#id")
    String mutex(int id) {
      return untilTheEnd();
    }

    @MutexGuarded(name = "${test.lock}", holdAtLeast = "30s")
    void kept() {}

    @MutexGuarded(name = "${test.lock}", key = "'b'", releaseAfter = ReleaseAfter.TRANSACTION)
    void booked() {}

    @MutexGuarded(name = "${test.lock}")
    void outer(Runnable nested) {
      nested.run();
    }

    @SemaphoreGuarded(name = "${test.lock}", slots = 2)
    Mono<String> semaphore() {
      return Mono.fromSupplier(this::untilTheEnd);
    }
  }

  private void application(Consumer<AssertableApplicationContext> test) {
    onBroker.application().withBean(Work.class).run(test::accept);
  }

  private List<String> losses(CapturedOutput output) {
    return output.getOut().lines().filter(line -> line.contains("Lost the lease")).toList();
  }

  @Test
  void ofAGuardedMethodWithTheMethod(CapturedOutput output) {
    application(
        context -> {
          AmqpLocks locks = context.getBean(AmqpLocks.class);
          Work work = context.getBean(Work.class);
          CompletableFuture<String> mutex = CompletableFuture.supplyAsync(() -> work.mutex(7));
          CompletableFuture<String> semaphore =
              CompletableFuture.supplyAsync(() -> work.semaphore().block());
          await().until(work::haveBothBegun);
          locks.leases().forEach(lease -> locks.revoke(lease.lock(), WHY));
          await().until(() -> losses(output).size() == 2);
          work.end();
          assertThat(mutex.join() + semaphore.join()).isEqualTo("donedone");
        });
    assertThat(losses(output))
        .hasSize(2)
        .allSatisfy(line -> assertThat(line).contains("WARN", "after PT", "REVOKED (" + WHY + ")"))
        .anySatisfy(
            line ->
                assertThat(line)
                    .contains(
                        "slot 1 of the mutex '" + onBroker.name() + ":7'",
                        "while " + Work.class.getName() + ".mutex() worked under it"))
        .anySatisfy(
            line ->
                assertThat(line)
                    .contains(
                        "of the token semaphore '" + onBroker.name() + "'",
                        "while " + Work.class.getName() + ".semaphore() worked under it"));
  }

  @Test
  void ofATemplateWithoutOne(CapturedOutput output) {
    application(
        context -> {
          AmqpLocks locks = context.getBean(AmqpLocks.class);
          Lease lease = context.getBean(LockTemplate.class).mutex(onBroker.name()).acquire();
          locks.revoke(lease.lock(), WHY);
          await().until(() -> losses(output).size() == 1);
          assertThat(lease.verify()).isEqualTo(LeaseState.LOST);
          lease.close();
        });
    assertThat(losses(output))
        .singleElement()
        .asString()
        .contains("WARN", "slot 1 of the mutex '" + onBroker.name() + "'", "REVOKED")
        .doesNotContain("worked under it");
  }

  /** Nobody's work is concerned. */
  @Test
  void ofOneThatWasOnlyKeptForItsMinimum(CapturedOutput output) {
    application(
        context -> {
          AmqpLocks locks = context.getBean(AmqpLocks.class);
          context.getBean(Work.class).kept();
          locks.leases().forEach(lease -> locks.revoke(lease.lock(), WHY));
          await().until(() -> losses(output).size() == 1);
        });
    assertThat(losses(output))
        .singleElement()
        .asString()
        .contains(
            "after " + Work.class.getName() + ".kept() had ended: it was kept for holdAtLeast")
        .doesNotContain("worked under it");
  }

  @Test
  void ofOneThatIsKeptForATransaction(CapturedOutput output) {
    application(
        context -> {
          AmqpLocks locks = context.getBean(AmqpLocks.class);
          Work work = context.getBean(Work.class);
          JdbcDataSource database = new JdbcDataSource();
          database.setURL("jdbc:h2:mem:" + onBroker.name());
          new TransactionTemplate(new JdbcTransactionManager(database))
              .executeWithoutResult(
                  status -> {
                    work.booked();
                    locks.leases().forEach(lease -> locks.revoke(lease.lock(), WHY));
                    await().until(() -> losses(output).size() == 1);
                  });
        });
    assertThat(losses(output))
        .singleElement()
        .asString()
        .contains("after " + Work.class.getName() + ".booked() had ended")
        .doesNotContain("worked under it");
  }

  @Test
  void ofOneThatANestedCallKeeps(CapturedOutput output) {
    application(
        context -> {
          AmqpLocks locks = context.getBean(AmqpLocks.class);
          Work work = context.getBean(Work.class);
          work.outer(work::kept);
          locks.leases().forEach(lease -> locks.revoke(lease.lock(), WHY));
          await().until(() -> losses(output).size() == 1);
        });
    assertThat(losses(output))
        .singleElement()
        .asString()
        .contains(
            "after " + Work.class.getName() + ".outer() had ended: it was kept for holdAtLeast")
        .doesNotContain("worked under it");
  }

  static class Hearing {
    private final List<LeaseLostEvent> events = new CopyOnWriteArrayList<>();

    @EventListener
    void lost(LeaseLostEvent event) {
      events.add(event);
    }

    List<LeaseLostEvent> events() {
      return events;
    }
  }

  /** Built without the starter's listeners, as who writes such a bean does not think of them. */
  @Test
  void ofLocksOfTheApplicationsOwn(CapturedOutput output) {
    onBroker
        .application()
        .withBean(AmqpLocks.class, onBroker::stranger)
        .withBean(Work.class)
        .withBean(Hearing.class)
        .run(
            context -> {
              AmqpLocks locks = context.getBean(AmqpLocks.class);
              Hearing hearing = context.getBean(Hearing.class);
              context
                  .getBean(Work.class)
                  .outer(
                      () -> {
                        locks.leases().forEach(lease -> locks.revoke(lease.lock(), WHY));
                        await().until(() -> hearing.events().size() == 1);
                      });
            });
    assertThat(losses(output))
        .singleElement()
        .asString()
        .contains("REVOKED", "while " + Work.class.getName() + ".outer() worked under it");
  }

  @Test
  void nothingOfOneThatIsReleased(CapturedOutput output) {
    application(
        context -> {
          Work work = context.getBean(Work.class);
          work.end();
          assertThat(work.mutex(1)).isEqualTo("done");
        });
    assertThat(losses(output)).isEmpty();
  }
}
