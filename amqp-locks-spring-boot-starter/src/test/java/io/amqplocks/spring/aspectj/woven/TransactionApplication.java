package io.amqplocks.spring.aspectj.woven;

import io.amqplocks.AmqpLocks;
import io.amqplocks.spring.MutexGuarded;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.transaction.TransactionDefinition;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.AbstractPlatformTransactionManager;
import org.springframework.transaction.support.DefaultTransactionStatus;
import org.springframework.transaction.support.TransactionSynchronizationManager;

/** An application whose transactions are woven too, by Spring's aspect. */
public final class TransactionApplication {

  private TransactionApplication() {}

  @Configuration(proxyBeanMethods = false)
  @EnableTransactionManagement(mode = AdviceMode.ASPECTJ)
  static class Transactions {
    @Bean
    Committing transactionManager() {
      return new Committing();
    }
  }

  /** Says whether the mutex is held at the commit. */
  static class Committing extends AbstractPlatformTransactionManager {
    private static final long serialVersionUID = 1L;

    @Override
    protected Object doGetTransaction() {
      return new Object();
    }

    @Override
    protected void doBegin(Object transaction, TransactionDefinition definition) {}

    @Override
    protected void doCommit(DefaultTransactionStatus status) {
      WovenApplication.write("commit=" + Outside.held());
    }

    @Override
    protected void doRollback(DefaultTransactionStatus status) {
      WovenApplication.write("rollback");
    }
  }

  static class Booking {
    String callBook() {
      return this.book();
    }

    @Transactional
    @MutexGuarded(name = "${test.lock}")
    private String book() {
      return TransactionSynchronizationManager.isActualTransactionActive() + " " + Outside.held();
    }

    CompletableFuture<String> callLater() {
      return this.later();
    }

    @Transactional
    @MutexGuarded(name = "${test.lock}")
    private CompletableFuture<String> later() {
      return CompletableFuture.completedFuture(Outside.held());
    }
  }

  /** Runs it. */
  public static void main(String[] properties) {
    WovenApplication application = new WovenApplication(properties);
    try (AmqpLocks stranger = application.stranger();
        AnnotationConfigApplicationContext context =
            application.context("aspectj", Transactions.class, Booking.class)) {
      Booking booking = context.getBean(Booking.class);
      WovenApplication.tell("book", booking::callBook);
      WovenApplication.tell("later", () -> booking.callLater().get(30, TimeUnit.SECONDS));
      WovenApplication.write("done " + stranger.status().held());
    }
  }
}
