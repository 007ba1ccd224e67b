package io.amqplocks.spring.internal.guard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.LockException;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.OnLost;
import io.amqplocks.spring.ReleaseAfter;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.h2.jdbcx.JdbcDataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.TransactionExecution;
import org.springframework.transaction.TransactionExecutionListener;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** The lock is there before a real transaction begins, and until after its commit. */
@BrokerTest
@ResourceLock(Resources.SYSTEM_OUT) // one captures at a time; others may print
@ExtendWith(OutputCaptureExtension.class)
class TransactionOrderTest {

  @AutoClose private final LocksOnBroker onBroker;
  private final Broker broker;

  TransactionOrderTest(Broker broker) {
    this.broker = broker;
    onBroker = new LocksOnBroker(broker);
  }

  static class Report {
    private final JdbcTemplate jdbc;

    Report(JdbcTemplate jdbc) {
      this.jdbc = jdbc;
    }

    @Transactional
    @MutexGuarded(name = "${test.lock}")
    void write(boolean fail) {
      insert();
      if (fail) {
        throw new IllegalStateException("roll back");
      }
    }

    @Transactional
    @MutexGuarded(name = "${test.lock}", onLost = OnLost.FAIL)
    void loseItAndCommit(Runnable lose) {
      insert();
      lose.run();
    }

    private void insert() {
      assertThat(TransactionSynchronizationManager.isActualTransactionActive()).isTrue();
      jdbc.update("insert into report values ('written')");
    }
  }

  /**
   * Notes how many leases are held, and what others see of the table, at the ends of a transaction.
   */
  static final class Noting implements TransactionExecutionListener {
    private final List<String> seen = new ArrayList<>();
    private final ObjectProvider<AmqpLocks> locks;
    private final JdbcDataSource database;

    Noting(ObjectProvider<AmqpLocks> locks, JdbcDataSource database) {
      this.locks = locks;
      this.database = database;
    }

    private void note(String what) {
      // Another connection than that of the transaction.
      JdbcDataSource another = new JdbcDataSource();
      another.setURL(database.getURL());
      long rows = rows(new JdbcTemplate(another));
      seen.add(
          "%s with %d rows and %d held".formatted(what, rows, locks.getObject().status().held()));
    }

    @Override
    public void beforeBegin(TransactionExecution transaction) {
      note("begin");
    }

    @Override
    public void afterCommit(TransactionExecution transaction, @Nullable Throwable failure) {
      note("committed");
    }

    @Override
    public void afterRollback(TransactionExecution transaction, @Nullable Throwable failure) {
      note("rolled back");
    }
  }

  private static long rows(JdbcTemplate jdbc) {
    Long rows = jdbc.queryForObject("select count(*) from report", Long.class);
    return rows == null ? -1 : rows;
  }

  static class TransactionalApplication {
    @Bean
    JdbcDataSource database() {
      JdbcDataSource database = new JdbcDataSource();
      database.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
      return database;
    }

    @Bean
    JdbcTemplate jdbc(JdbcDataSource database) {
      JdbcTemplate jdbc = new JdbcTemplate(database);
      jdbc.execute("create table report (body varchar(20))");
      return jdbc;
    }

    @Bean
    Noting noting(ObjectProvider<AmqpLocks> locks, JdbcDataSource database) {
      return new Noting(locks, database);
    }

    @Bean
    JdbcTransactionManager transactions(JdbcDataSource database, Noting noting) {
      JdbcTransactionManager transactions = new JdbcTransactionManager(database);
      transactions.addListener(noting);
      return transactions;
    }

    @Bean
    Report report(JdbcTemplate jdbc) {
      return new Report(jdbc);
    }
  }

  @Test
  void theLockIsOutside(CapturedOutput output) {
    onBroker
        .application()
        .withUserConfiguration(TransactionsAsEver.class)
        .run(
            context -> {
              Report report = context.getBean(Report.class);
              report.write(false);
              assertThatIllegalStateException().isThrownBy(() -> report.write(true));
              assertThat(context.getBean(Noting.class).seen)
                  .containsExactly(
                      "begin with 0 rows and 1 held",
                      "committed with 1 rows and 1 held",
                      "begin with 1 rows and 1 held",
                      "rolled back with 1 rows and 1 held");
              assertThat(context.getBean(AmqpLocks.class).status().held()).isZero();
              assertThat(warnings(output)).isEmpty();
            });
  }

  @Configuration(proxyBeanMethods = false)
  @EnableTransactionManagement(proxyTargetClass = true)
  static class TransactionsAsEver extends TransactionalApplication {}

  @Configuration(proxyBeanMethods = false)
  @EnableTransactionManagement(proxyTargetClass = true, order = 0)
  static class TransactionsFirst extends TransactionalApplication {}

  /** Its lock is released after the commit wherever it is acquired. */
  static class Stock {
    @Transactional
    @MutexGuarded(name = "${test.lock}", releaseAfter = ReleaseAfter.TRANSACTION)
    void take() {}

    @MutexGuarded(name = "${test.lock}")
    void look() {}
  }

  @Test
  void transactionsThatHaveAnOrderAreOutsideWithAWarning(CapturedOutput output) {
    onBroker
        .application()
        .withUserConfiguration(TransactionsFirst.class)
        .withBean(Stock.class)
        .run(
            context -> {
              context.getBean(Report.class).write(false);
              assertThat(context.getBean(Noting.class).seen)
                  .containsExactly(
                      "begin with 0 rows and 0 held", "committed with 1 rows and 0 held");
              assertThat(warnings(output))
                  .singleElement(InstanceOfAssertFactories.STRING)
                  .contains(Report.class.getName())
                  .contains("loseItAndCommit(), write()")
                  .contains("amqp-locks.annotations.order")
                  .contains("releaseAfter = TRANSACTION");
            });
  }

  private static List<String> warnings(CapturedOutput output) {
    return output
        .getAll()
        .lines()
        .filter(line -> line.contains("WARN") && line.contains("before the commit"))
        .toList();
  }

  @Test
  void whoOrdersTransactionsOutsideHasThemThere(CapturedOutput output) {
    onBroker
        .application()
        .withPropertyValues("amqp-locks.annotations.order=1")
        .withUserConfiguration(TransactionsFirst.class)
        .run(
            context -> {
              context.getBean(Report.class).write(false);
              assertThat(context.getBean(Noting.class).seen)
                  .containsExactly(
                      "begin with 0 rows and 0 held", "committed with 1 rows and 0 held");
              assertThat(warnings(output)).isEmpty();
            });
  }

  /** As the Javadoc of OnLost warns. */
  @Test
  void aLossIsFoundAfterTheCommit() {
    onBroker
        .application()
        .withUserConfiguration(TransactionsAsEver.class)
        .run(
            context -> {
              assertThatExceptionOfType(LockException.Lost.class)
                  .isThrownBy(
                      () ->
                          context
                              .getBean(Report.class)
                              .loseItAndCommit(
                                  () -> broker.faults().deleteQueue(onBroker.mutexQueue())));
              assertThat(rows(context.getBean(JdbcTemplate.class))).isEqualTo(1);
            });
  }
}
