package io.amqplocks.spring.internal.guard.call;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LocksStatus;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.OnLost;
import io.amqplocks.spring.ReadGuarded;
import io.amqplocks.spring.ReleaseAfter;
import io.amqplocks.spring.SemaphoreAlgorithm;
import io.amqplocks.spring.SemaphoreGuarded;
import io.amqplocks.spring.WriteGuarded;
import io.amqplocks.spring.internal.nesting.LeaseScope;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.Direction;
import io.amqplocks.test.TcpProxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DataSourceTransactionManager;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionTemplate;

/** The lock and the transaction of the caller, with a real database. */
@BrokerTest
@Order(1) // of the longest
class ReleaseAfterTransactionTest {

  private final Broker broker;
  @AutoClose private final LocksOnBroker onBroker;

  ReleaseAfterTransactionTest(Broker broker) {
    this.broker = broker;
    onBroker = new LocksOnBroker(broker);
  }

  /** Takes one from the stock, if there is one: wrong if two do so at once. */
  static class Stock {
    private final JdbcTemplate jdbc;

    Stock(JdbcTemplate jdbc) {
      this.jdbc = jdbc;
    }

    int left() {
      return requireNonNull(jdbc.queryForObject("select amount from stock", Integer.class));
    }

    private int take() {
      int before = left();
      jdbc.update("update stock set amount = ?", before - 1);
      return before;
    }

    @MutexGuarded(name = "${test.lock}")
    public int takeAndRelease() {
      return take();
    }

    @MutexGuarded(name = "${test.lock}")
    public int look() {
      return left();
    }

    @MutexGuarded(name = "${test.lock}", releaseAfter = ReleaseAfter.TRANSACTION)
    public int takeAndHold() {
      return take();
    }

    @MutexGuarded(name = "${test.lock}", releaseAfter = ReleaseAfter.TRANSACTION)
    public int lookAndHold() {
      return left();
    }

    @MutexGuarded(name = "${test.lock}", releaseAfter = ReleaseAfter.TRANSACTION)
    public void fail() {
      throw new IllegalStateException("from the work");
    }

    @MutexGuarded(
        name = "${test.lock}",
        releaseAfter = ReleaseAfter.TRANSACTION,
        onLost = OnLost.FAIL)
    public int takeUnlessLost() {
      return take();
    }

    @MutexGuarded(
        name = "${test.lock}",
        releaseAfter = ReleaseAfter.TRANSACTION,
        onLost = OnLost.INTERRUPT)
    public int takeOrBeInterrupted(Runnable meanwhile) {
      int before = take();
      meanwhile.run();
      return before;
    }

    @MutexGuarded(name = "${test.lock}", releaseAfter = ReleaseAfter.TRANSACTION)
    public void close(@Nullable Lease lease) {
      requireNonNull(lease).close();
    }

    @MutexGuarded(
        name = "${test.lock}",
        releaseAfter = ReleaseAfter.TRANSACTION,
        holdAtLeast = "5s")
    public Lease closeAndKeep(@Nullable Lease lease) {
      requireNonNull(lease).close();
      return lease;
    }

    @MutexGuarded(name = "${test.lock}")
    public void within(Runnable work) {
      work.run();
    }

    @Transactional
    @MutexGuarded(name = "${test.lock}", releaseAfter = ReleaseAfter.TRANSACTION)
    public int takeInItsOwn() {
      return take();
    }

    @SemaphoreGuarded(name = "${test.lock}", slots = 2, releaseAfter = ReleaseAfter.TRANSACTION)
    public int takeBySemaphore() {
      return take();
    }
  }

  /** Reads the stock, or takes from it, until the transaction ends. */
  static class SharedStock {
    private final Stock stock;

    SharedStock(Stock stock) {
      this.stock = stock;
    }

    @ReadGuarded(name = "${test.lock}-shared", releaseAfter = ReleaseAfter.TRANSACTION)
    public int look() {
      return stock.left();
    }

    @WriteGuarded(name = "${test.lock}-shared", releaseAfter = ReleaseAfter.TRANSACTION)
    public int take() {
      return stock.take();
    }
  }

  /** Whether a slot still exists is only seen by asking the broker. */
  static class SlottedStock {
    private final JdbcTemplate jdbc;

    SlottedStock(JdbcTemplate jdbc) {
      this.jdbc = jdbc;
    }

    @SemaphoreGuarded(
        name = "${test.lock}-slots",
        slots = 2,
        algorithm = SemaphoreAlgorithm.SLOTS,
        releaseAfter = ReleaseAfter.TRANSACTION,
        onLost = OnLost.FAIL)
    public void takeUnlessLost() {
      jdbc.update("update stock set amount = amount - 1");
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableTransactionManagement(proxyTargetClass = true)
  static class Application {
    @Bean
    DataSource dataSource() {
      JdbcDataSource source = new JdbcDataSource();
      source.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
      JdbcTemplate jdbc = new JdbcTemplate(source);
      jdbc.execute("create table stock (amount int)");
      jdbc.update("insert into stock values (5)");
      return source;
    }

    @Bean
    JdbcTemplate jdbc(DataSource source) {
      return new JdbcTemplate(source);
    }

    @Bean
    PlatformTransactionManager transactions(DataSource source) {
      return new DataSourceTransactionManager(source);
    }

    @Bean
    Stock stock(JdbcTemplate jdbc) {
      return new Stock(jdbc);
    }

    @Bean
    SharedStock sharedStock(JdbcTemplate jdbc) {
      // Not the bean, whose methods have a lock of their own.
      return new SharedStock(new Stock(jdbc));
    }

    @Bean
    SlottedStock slottedStock(JdbcTemplate jdbc) {
      return new SlottedStock(jdbc);
    }
  }

  private record Running(
      Stock stock,
      SlottedStock slotted,
      SharedStock shared,
      AmqpLocks locks,
      TransactionTemplate transaction,
      TransactionTemplate anew) {
    int held() {
      return locks.status().held();
    }
  }

  private interface Body {
    void of(Running application) throws Exception;
  }

  private void run(Body test) {
    run(onBroker.application(), test);
  }

  private static void run(ApplicationContextRunner application, Body test) {
    application
        .withUserConfiguration(Application.class)
        .run(
            context -> {
              PlatformTransactionManager manager =
                  context.getBean(PlatformTransactionManager.class);
              TransactionTemplate anew = new TransactionTemplate(manager);
              anew.setPropagationBehavior(TransactionDefinition.PROPAGATION_REQUIRES_NEW);
              Running running =
                  new Running(
                      context.getBean(Stock.class),
                      context.getBean(SlottedStock.class),
                      context.getBean(SharedStock.class),
                      context.getBean(AmqpLocks.class),
                      new TransactionTemplate(manager),
                      anew);
              test.of(running);
              assertThat(LeaseScope.current()).isNull();
              assertThat(running.held()).isZero();
              if (running.locks.status().session() != LocksStatus.Session.CLOSED) {
                // What an earlier transaction left in the thread would be joined here.
                assertThat(running.stock.look()).isEqualTo(running.stock.left());
                assertThat(running.held()).isZero();
              }
            });
  }

  /** Why there is such a thing: the other one reads what is about to be overwritten. */
  @Test
  void afterTheMethodAnotherHolderReadsWhatIsNotCommitted() {
    run(
        app -> {
          List<Integer> seen = new ArrayList<>();
          app.transaction.executeWithoutResult(
              status -> {
                assertThat(app.stock.takeAndRelease()).isEqualTo(5);
                seen.add(CompletableFuture.supplyAsync(app.stock::look).join());
              });
          assertThat(seen).containsExactly(5);
          assertThat(app.stock.left()).isEqualTo(4);
        });
  }

  @Test
  void afterTheTransactionAnotherHolderReadsWhatWasCommitted() {
    run(
        app -> {
          List<CompletableFuture<Integer>> other = new ArrayList<>();
          app.transaction.executeWithoutResult(
              status -> {
                assertThat(app.stock.takeAndHold()).isEqualTo(5);
                other.add(CompletableFuture.supplyAsync(app.stock::look));
                await().until(() -> app.locks.status().waiting() == 1);
                assertThat(other.get(0)).isNotDone();
                assertThat(isHeldForStrangers()).isTrue();
              });
          assertThat(other.get(0).get(30, TimeUnit.SECONDS)).isEqualTo(4);
        });
  }

  private boolean isHeldForStrangers() {
    try (AmqpLocks stranger = onBroker.stranger()) {
      return stranger.mutex(onBroker.name()).tryAcquire().isEmpty();
    }
  }

  @Test
  void aTransactionThatWroteMayReadAndHoldsTheWriteLockToItsEnd() {
    run(
        app -> {
          List<CompletableFuture<Integer>> other = new ArrayList<>();
          app.transaction.executeWithoutResult(
              status -> {
                assertThat(app.shared.take()).isEqualTo(5);
                assertThat(app.shared.look()).isEqualTo(4);
                assertThat(app.held()).isEqualTo(1);
                other.add(CompletableFuture.supplyAsync(app.shared::look));
                await().until(() -> app.locks.status().waiting() == 1);
                assertThat(other.get(0)).isNotDone();
              });
          assertThat(other.get(0).get(30, TimeUnit.SECONDS)).isEqualTo(4);
        });
  }

  /** Both methods have returned, and still the second would wait for the first. */
  @Test
  void aTransactionThatReadAndWantsToWriteIsToldAtOnce() {
    run(
        app ->
            app.transaction.executeWithoutResult(
                status -> {
                  assertThat(app.shared.look()).isEqualTo(5);
                  assertThatExceptionOfType(LockException.Invalid.class)
                      .isThrownBy(app.shared::take)
                      .withMessageContaining("wants the write lock '" + onBroker.name());
                  assertThat(app.held()).as("the read lock").isEqualTo(1);
                  assertThat(CompletableFuture.supplyAsync(app.shared::look))
                      .as("another reader")
                      .succeedsWithin(Duration.ofSeconds(30));
                }));
  }

  @Test
  void aRollbackReleasesIt() {
    run(
        app -> {
          app.transaction.executeWithoutResult(
              status -> {
                app.stock.takeAndHold();
                assertThat(app.held()).isEqualTo(1);
                status.setRollbackOnly();
              });
          assertThat(app.held()).isZero();
          assertThatIllegalStateException()
              .isThrownBy(
                  () ->
                      app.transaction.executeWithoutResult(
                          status -> {
                            app.stock.takeAndHold();
                            app.stock.fail();
                          }));
          assertThat(app.held()).isZero();
          assertThat(app.stock.left()).isEqualTo(5);
        });
  }

  @Test
  void aMethodThatThrewKeepsItToo() {
    run(
        app ->
            app.transaction.executeWithoutResult(
                status -> {
                  assertThatIllegalStateException().isThrownBy(app.stock::fail);
                  assertThat(app.held()).isEqualTo(1);
                }));
  }

  @Test
  void withoutATransactionTheMethodsEndCounts() {
    run(
        app -> {
          assertThat(app.stock.takeAndHold()).isEqualTo(5);
          assertThat(app.held()).isZero();
          assertThat(app.stock.takeInItsOwn()).as("committed within the lock").isEqualTo(4);
          assertThat(app.held()).isZero();
          assertThat(app.stock.takeBySemaphore()).isEqualTo(3);
        });
  }

  @Test
  void laterCallsOfTheTransactionJoin() {
    run(
        app ->
            app.transaction.executeWithoutResult(
                status -> {
                  assertThat(app.stock.takeAndHold()).isEqualTo(5);
                  assertThat(app.stock.takeAndHold()).isEqualTo(4);
                  assertThat(app.stock.takeAndRelease()).isEqualTo(3);
                  assertThat(app.stock.takeInItsOwn()).isEqualTo(2);
                  assertThat(app.held()).isEqualTo(1);
                  assertThat(app.stock.takeBySemaphore()).isEqualTo(1);
                  assertThat(app.held()).isEqualTo(2);
                }));
  }

  @Test
  void aCallAfterALeaseThatWasClosedHoldsAnother() {
    run(
        app ->
            app.transaction.executeWithoutResult(
                status -> {
                  app.stock.close(null);
                  assertThat(app.held()).isZero();
                  app.stock.takeAndHold();
                  assertThat(app.held()).isEqualTo(1);
                }));
  }

  @Test
  void aCallAfterAClosedLeaseThatIsKeptForItsMinimumHoldsAnother() {
    run(
        app ->
            app.transaction.executeWithoutResult(
                status -> {
                  Lease closed = app.stock.closeAndKeep(null);
                  assertThat(closed.state()).isEqualTo(LeaseState.HELD);
                  app.stock.takeAndHold();
                  assertThat(closed.state()).isEqualTo(LeaseState.RELEASED);
                  assertThat(app.held()).isEqualTo(1);
                }));
  }

  @Test
  void theOutermostTransactionCounts() {
    run(
        app ->
            app.transaction.executeWithoutResult(
                outer -> {
                  app.transaction.executeWithoutResult(inner -> app.stock.takeAndHold());
                  assertThat(app.held()).isEqualTo(1);
                }));
  }

  /**
   * The suspended transaction ends later, on the same thread. To wait for it is to wait for
   * oneself.
   */
  @Test
  void aTransactionWithinASuspendedOneJoinsItsLease() {
    run(
        app ->
            app.transaction.executeWithoutResult(
                outer -> {
                  app.stock.look();
                  assertThat(app.held()).isZero();
                  app.anew.executeWithoutResult(
                      inner -> {
                        assertThat(app.stock.takeAndHold()).isEqualTo(5);
                        assertThat(app.held()).isEqualTo(1);
                      });
                  assertThat(app.held()).as("it was the inner one's").isZero();
                  assertThat(app.stock.takeAndHold()).isEqualTo(4);
                  app.anew.executeWithoutResult(
                      inner -> {
                        assertThat(app.stock.lookAndHold()).as("committed").isEqualTo(4);
                        assertThat(app.held()).isEqualTo(1);
                      });
                  assertThat(app.held()).as("it is the outer one's").isEqualTo(1);
                }));
  }

  /** The call around it ends before the transaction. */
  @Test
  void aNestedCallHoldsTheOuterCallsLease() {
    run(
        app ->
            app.transaction.executeWithoutResult(
                status -> {
                  app.stock.within(() -> assertThat(app.stock.takeAndHold()).isEqualTo(5));
                  assertThat(app.held()).isEqualTo(1);
                  assertThat(isHeldForStrangers()).isTrue();
                  assertThat(app.stock.takeAndRelease()).isEqualTo(4);
                }));
  }

  @Test
  void aTransactionWithinTheOuterCallDoesNotReleaseItsLease() {
    run(
        app ->
            app.stock.within(
                () -> {
                  app.transaction.executeWithoutResult(status -> app.stock.takeAndHold());
                  assertThat(app.held()).isEqualTo(1);
                }));
  }

  private void loseIt(Running app) {
    broker.faults().deleteQueue(onBroker.mutexQueue());
    await().until(() -> app.held() == 0);
  }

  @Test
  void aLossPreventsTheCommit() {
    run(
        app -> {
          assertThatExceptionOfType(LockException.Lost.class)
              .isThrownBy(
                  () ->
                      app.transaction.executeWithoutResult(
                          status -> {
                            app.stock.takeUnlessLost();
                            loseIt(app);
                          }))
              .withMessageContaining(
                  "mutex '" + onBroker.name() + "' was lost before the transaction")
              .withMessageContaining("takeUnlessLost()")
              .satisfies(e -> assertThat(e.lock()).isPresent());
          assertThat(app.stock.left()).isEqualTo(5);
        });
  }

  /** As at a shutdown that does not wait any longer. */
  @Test
  void aCloseOfTheLocksPreventsTheCommit() {
    run(
        app -> {
          assertThatExceptionOfType(LockException.Lost.class)
              .isThrownBy(
                  () ->
                      app.transaction.executeWithoutResult(
                          status -> {
                            app.stock.takeUnlessLost();
                            app.locks.close();
                          }))
              .withMessageContaining("the locks were closed");
          assertThat(app.stock.left()).isEqualTo(5);
        });
  }

  /** The method has ended, so its thread does other work by now, and is not interrupted. */
  @Test
  void aLossAfterAMethodThatIsInterruptedPreventsTheCommitToo() {
    run(
        app -> {
          assertThatExceptionOfType(LockException.Lost.class)
              .isThrownBy(
                  () ->
                      app.transaction.executeWithoutResult(
                          status -> {
                            app.stock.takeOrBeInterrupted(() -> {});
                            loseIt(app);
                            assertThat(Thread.currentThread().isInterrupted()).isFalse();
                          }))
              .withMessageContaining("was lost before the transaction")
              .withMessageContaining("takeOrBeInterrupted(");
          assertThat(app.stock.left()).isEqualTo(5);
        });
  }

  @Test
  void aLossDuringAMethodInterruptsItAndPreventsTheCommit() {
    run(
        app -> {
          AtomicBoolean interrupted = new AtomicBoolean();
          assertThatExceptionOfType(LockException.Lost.class)
              .isThrownBy(
                  () ->
                      app.transaction.executeWithoutResult(
                          status -> {
                            // Who catches it goes on to the commit.
                            assertThatExceptionOfType(LockException.Lost.class)
                                .isThrownBy(
                                    () ->
                                        app.stock.takeOrBeInterrupted(
                                            () -> interrupted.set(sleepsInVain())));
                            assertThat(Thread.currentThread().isInterrupted()).isFalse();
                          }))
              .withMessageContaining("was lost before the transaction");
          assertThat(interrupted).isTrue();
          assertThat(app.stock.left()).isEqualTo(5);
        });
  }

  private boolean sleepsInVain() {
    // Elsewhere: the interrupt is for this thread's work, and comes before the broker's answer.
    var unused =
        CompletableFuture.runAsync(() -> broker.faults().deleteQueue(onBroker.mutexQueue()));
    try {
      return new CountDownLatch(1).await(30, TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      return true;
    }
  }

  /** Nobody has told this process of the loss: the broker is asked before the commit. */
  @Test
  void aLossThatNobodyHasToldPreventsTheCommit() {
    run(
        // Nor is the broker asked before that: it is twice in a heartbeat.
        onBroker.application().withPropertyValues("amqp-locks.heartbeat=60s"),
        app -> {
          assertThatExceptionOfType(LockException.Lost.class)
              .isThrownBy(
                  () ->
                      app.transaction.executeWithoutResult(
                          status -> {
                            app.slotted.takeUnlessLost();
                            onBroker.queues().stream()
                                .filter(queue -> queue.contains("-slots.slot."))
                                .forEach(broker.faults()::deleteQueue);
                            assertThat(app.held()).isEqualTo(1);
                          }))
              .withMessageContaining("was lost before the transaction");
          assertThat(app.stock.left()).isEqualTo(5);
        });
  }

  /** Whether it is held still cannot be known before the commit: what may be wrong is undone. */
  @Test
  void aLeaseThatIsUncertainPreventsTheCommit() {
    try (TcpProxy proxy = TcpProxy.to(broker)) {
      run(
          onBroker
              .application()
              .withPropertyValues(
                  "spring.rabbitmq.host=" + proxy.host(),
                  "spring.rabbitmq.port=" + proxy.port(),
                  // Long before it is lost.
                  "amqp-locks.certain-for=5s"),
          app -> {
            assertThatExceptionOfType(LockException.Unanswered.class)
                .isThrownBy(
                    () ->
                        app.transaction.executeWithoutResult(
                            status -> {
                              app.stock.takeUnlessLost();
                              proxy.blackHole(Direction.BOTH);
                              await().until(() -> app.locks.status().uncertain() == 1);
                            }))
                .withMessageContaining(
                    "did not confirm the mutex '" + onBroker.name() + "' before the commit")
                .withMessageContaining("takeUnlessLost()")
                .satisfies(e -> assertThat(e.lock()).isPresent());
            assertThat(app.stock.left()).isEqualTo(5);
            proxy.heal();
            proxy.cut();
          });
    }
  }

  @Test
  void oneOfSeveralCallsThatMindsALossIsEnough() {
    run(
        app -> {
          assertThatExceptionOfType(LockException.Lost.class)
              .isThrownBy(
                  () ->
                      app.transaction.executeWithoutResult(
                          status -> {
                            app.stock.takeAndHold();
                            app.stock.takeUnlessLost();
                            loseIt(app);
                          }));
          assertThat(app.stock.left()).isEqualTo(5);
        });
  }

  @Test
  void whoIsOnlyNotifiedCommits() {
    run(
        app -> {
          app.transaction.executeWithoutResult(
              status -> {
                app.stock.takeAndHold();
                loseIt(app);
              });
          assertThat(app.stock.left()).isEqualTo(4);
        });
  }

  @Test
  void aLostLeaseIsNotJoinedByTheTransaction() {
    run(
        app -> {
          AtomicInteger taken = new AtomicInteger();
          assertThatExceptionOfType(LockException.Lost.class)
              .isThrownBy(
                  () ->
                      app.transaction.executeWithoutResult(
                          status -> {
                            taken.set(app.stock.takeAndHold());
                            loseIt(app);
                            app.stock.takeAndHold();
                          }));
          assertThat(taken).hasValue(5);
          assertThat(app.stock.left()).isEqualTo(5);
        });
  }
}
