package io.amqplocks.spring.internal.guard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.LockException;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.UUID;
import javax.sql.DataSource;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ComponentScan.Filter;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.FilterType;
import org.springframework.data.annotation.Id;
import org.springframework.data.jdbc.repository.config.AbstractJdbcConfiguration;
import org.springframework.data.jdbc.repository.config.EnableJdbcRepositories;
import org.springframework.data.repository.CrudRepository;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;

/**
 * A fragment of a Spring Data repository: its interface is annotated, so both the repository and
 * the bean that implements the fragment are guarded, and a call goes through both.
 */
@BrokerTest
class GuardedFragmentTest {

  @AutoClose private final LocksOnBroker onBroker;

  GuardedFragmentTest(Broker broker) {
    onBroker = new LocksOnBroker(broker);
  }

  record Drawing(@Id Long id, String name) {}

  interface Renaming {
    @MutexGuarded(name = "${test.lock}", key = "#id")
    int heldWhileRenaming(long id);
  }

  static class RenamingImpl implements Renaming {
    private final ObjectProvider<AmqpLocks> locks;

    RenamingImpl(ObjectProvider<AmqpLocks> locks) {
      this.locks = locks;
    }

    @Override
    public int heldWhileRenaming(long id) {
      return locks.getObject().status().held();
    }
  }

  interface Drawings extends CrudRepository<Drawing, Long>, Renaming {}

  @Configuration(proxyBeanMethods = false)
  @EnableJdbcRepositories(
      considerNestedRepositories = true,
      includeFilters = @Filter(type = FilterType.ASSIGNABLE_TYPE, classes = Drawings.class))
  static class Repositories extends AbstractJdbcConfiguration {
    @Bean
    DataSource dataSource() {
      JdbcDataSource source = new JdbcDataSource();
      source.setURL("jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1");
      return source;
    }

    @Bean
    JdbcTransactionManager transactionManager(DataSource source) {
      return new JdbcTransactionManager(source);
    }

    @Bean
    NamedParameterJdbcTemplate jdbc(DataSource source) {
      return new NamedParameterJdbcTemplate(source);
    }

    /** By the name under which Spring Data looks for it. */
    @Bean
    RenamingImpl renamingImpl(ObjectProvider<AmqpLocks> locks) {
      return new RenamingImpl(locks);
    }
  }

  @Test
  void aCallThroughBothHoldsTheMutexOnce() {
    onBroker
        .application()
        .withUserConfiguration(Repositories.class)
        .run(
            context -> {
              assertThat(context).hasNotFailed();
              assertThat(context.getBean("renamingImpl")).satisfies(GuardedFragmentTest::isGuarded);
              assertThat(context.getBean(Drawings.class).heldWhileRenaming(7)).isEqualTo(1);
              assertThat(context.getBean(AmqpLocks.class).status().held()).isZero();
            });
  }

  private static void isGuarded(Object bean) {
    assertThat(GuardingProxy.is(bean)).isTrue();
  }

  @Test
  void othersExcludeIt() {
    onBroker
        .application()
        .withPropertyValues("amqp-locks.default-wait=2s")
        .withUserConfiguration(Repositories.class)
        .run(
            context -> {
              Drawings drawings = context.getBean(Drawings.class);
              try (var other =
                  context
                      .getBean(LockTemplate.class)
                      .mutex(onBroker.name(), "7")
                      .waiting(Duration.ofSeconds(20))
                      .acquire()) {
                assertThatExceptionOfType(LockException.AcquireTimeout.class)
                    .isThrownBy(() -> drawings.heldWhileRenaming(7));
                assertThat(other.lossReason()).isEmpty();
              }
            });
  }
}
