package io.amqplocks.spring.guard;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.AmqpLocks;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;

/** The lock is there before the transaction begins, and until after the commit. */
@BrokerTest(everyLine = true)
class TransactionOrderTest {

  private static final List<String> seen = new ArrayList<>();

  static class Report {
    @Transactional
    @MutexGuarded(name = "${test.lock}")
    void write() {}
  }

  /** Notes how many leases are held at the ends of a transaction. */
  static final class Transactions extends AbstractPlatformTransactionManager {
    private static final long serialVersionUID = 1L;
    private final transient ObjectProvider<AmqpLocks> locks;

    Transactions(ObjectProvider<AmqpLocks> locks) {
      this.locks = locks;
    }

    private void note(String what) {
      seen.add(what + " with " + locks.getObject().status().held() + " held");
    }

    @Override
    protected Object doGetTransaction() {
      return new Object();
    }

    @Override
    protected void doBegin(Object transaction, TransactionDefinition definition) {
      note("begin");
    }

    @Override
    protected void doCommit(DefaultTransactionStatus status) {
      note("commit");
    }

    @Override
    protected void doRollback(DefaultTransactionStatus status) {
      note("rollback");
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableTransactionManagement(proxyTargetClass = true)
  static class TransactionalApplication {
    @Bean
    Report report() {
      return new Report();
    }

    @Bean
    Transactions transactions(ObjectProvider<AmqpLocks> locks) {
      return new Transactions(locks);
    }
  }

  @Test
  void theLockIsOutside(Broker broker) {
    try (LocksOnBroker onBroker = new LocksOnBroker(broker)) {
      onBroker
          .application()
          .withUserConfiguration(TransactionalApplication.class)
          .run(
              context -> {
                seen.clear();
                context.getBean(Report.class).write();
                assertThat(seen).containsExactly("begin with 1 held", "commit with 1 held");
                assertThat(context.getBean(AmqpLocks.class).status().held()).isZero();
              });
    }
  }
}
