package io.amqplocks.spring.internal.guard;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import com.sun.net.httpserver.HttpServer;
import feign.codec.Encoder;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.spring.GuardedMethodException;
import io.amqplocks.spring.HeldByAnother;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.OnBusy;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.UUID;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import javax.sql.DataSource;
import org.apache.ibatis.annotations.Mapper;
import org.apache.ibatis.annotations.Select;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.mybatis.spring.SqlSessionFactoryBean;
import org.mybatis.spring.annotation.MapperScan;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.http.converter.autoconfigure.HttpMessageConvertersAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.cloud.openfeign.EnableFeignClients;
import org.springframework.cloud.openfeign.FeignAutoConfiguration;
import org.springframework.cloud.openfeign.FeignClient;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.ComponentScan.Filter;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.FilterType;
import org.springframework.core.PriorityOrdered;
import org.springframework.data.annotation.Id;
import org.springframework.data.jdbc.repository.config.AbstractJdbcConfiguration;
import org.springframework.data.jdbc.repository.config.EnableJdbcRepositories;
import org.springframework.data.jdbc.repository.query.Query;
import org.springframework.data.repository.CrudRepository;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.core.namedparam.NamedParameterJdbcTemplate;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.annotation.EnableTransactionManagement;
import org.springframework.transaction.annotation.Transactional;
import org.springframework.transaction.support.TransactionSynchronizationManager;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.RequestParam;
import org.springframework.web.client.RestClient;
import org.springframework.web.client.support.RestClientAdapter;
import org.springframework.web.client.support.RestClientHttpServiceGroupConfigurer;
import org.springframework.web.service.annotation.GetExchange;
import org.springframework.web.service.annotation.HttpExchange;
import org.springframework.web.service.invoker.HttpServiceProxyFactory;
import org.springframework.web.service.registry.ImportHttpServices;

/** Beans that Spring, or a library, makes from an interface are guarded by its annotations. */
@Tag("defect-B1")
@BrokerTest
class InterfaceBeansTest {

  @AutoClose private final LocksOnBroker onBroker;
  private final HttpServer server;
  private final ExecutorService threads = Executors.newCachedThreadPool();
  private final ApplicationContextRunner application;

  InterfaceBeansTest(Broker broker) throws IOException {
    onBroker = new LocksOnBroker(broker);
    server = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    server.setExecutor(threads);
    server.createContext(
        "/held",
        exchange -> {
          byte[] answer = Boolean.toString(RemoteWork.held()).getBytes(StandardCharsets.UTF_8);
          exchange.getResponseHeaders().add("Content-Type", "application/json");
          exchange.sendResponseHeaders(200, answer.length);
          exchange.getResponseBody().write(answer);
          exchange.close();
        });
    server.start();
    application =
        onBroker
            .application()
            .withPropertyValues(
                "test.url=http://127.0.0.1:" + server.getAddress().getPort(),
                "test.database=" + UUID.randomUUID());
    RemoteWork.observe(onBroker::isMutexHeld);
  }

  @AfterEach
  void stop() {
    server.stop(0);
    threads.shutdownNow();
  }

  /** A call of a client, which answers whether the lock was held meanwhile. */
  private interface Call<C> {
    boolean of(C client, long id);
  }

  private <C> void assertGuarded(ApplicationContextRunner with, Class<C> type, Call<C> call) {
    with.run(
        context -> {
          assertThat(context).hasNotFailed();
          C client = context.getBean(type);
          HeldByAnother.during(
              context.getBean(LockTemplate.class).mutex(onBroker.name(), "7"),
              () ->
                  assertThatExceptionOfType(LockException.AcquireTimeout.class)
                      .isThrownBy(() -> call.of(client, 7)));
          assertThat(RemoteWork.answered()).isZero();
          // A release is not confirmed.
          await().until(() -> !onBroker.isMutexHeld());
          assertThat(call.of(client, 7)).isTrue();
          await().until(() -> !onBroker.isMutexHeld());
          assertThat(call.of(client, 7)).isTrue();
          assertThat(RemoteWork.answered()).isEqualTo(2);
        });
  }

  // ---- HTTP interfaces

  /** Public, as Spring calls the default methods of no other. */
  @HttpExchange
  public interface HttpApi {
    @MutexGuarded(name = "${test.lock}", key = "#id", maxWait = "0s")
    @GetExchange("/held")
    boolean held(@RequestParam long id);

    @MutexGuarded(
        name = "${test.lock}",
        key = "#id",
        onBusy = OnBusy.FALLBACK,
        fallbackMethod = "unknown")
    @GetExchange("/held")
    String text(@RequestParam long id);

    default String unknown(long id, LockException.AcquireTimeout busy) {
      return "unknown " + id;
    }

    @GetExchange("/held")
    boolean unguarded(@RequestParam long id);

    @Transactional
    default boolean inTransaction() {
      return TransactionSynchronizationManager.isActualTransactionActive();
    }

    @Transactional
    @MutexGuarded(name = "${test.lock}", maxWait = "0s")
    default boolean guardedInTransaction() {
      return TransactionSynchronizationManager.isActualTransactionActive() && RemoteWork.held();
    }
  }

  @Configuration(proxyBeanMethods = false)
  @ImportHttpServices(types = HttpApi.class)
  static class HttpServices {
    @Bean
    RestClientHttpServiceGroupConfigurer remote(@Value("${test.url}") String url) {
      return groups -> groups.forEachClient((group, client) -> client.baseUrl(url));
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class HttpClientBean {
    @Bean
    HttpApi client(@Value("${test.url}") String url) {
      return HttpServiceProxyFactory.builderFor(RestClientAdapter.create(RestClient.create(url)))
          .build()
          .createClient(HttpApi.class);
    }
  }

  @Test
  void aRegisteredHttpService() {
    assertGuarded(
        application.withUserConfiguration(HttpServices.class), HttpApi.class, HttpApi::held);
  }

  @Test
  void aClientThatABeanMethodMakes() {
    assertGuarded(
        application.withUserConfiguration(HttpClientBean.class), HttpApi.class, HttpApi::held);
  }

  @Test
  void itsOtherMethodsAreFree() {
    application
        .withUserConfiguration(HttpServices.class)
        .run(context -> assertThat(context.getBean(HttpApi.class).unguarded(7)).isFalse());
  }

  @Test
  void aFallbackIsADefaultMethodOfTheInterface() {
    application
        .withUserConfiguration(HttpServices.class)
        .run(
            context -> {
              HttpApi client = context.getBean(HttpApi.class);
              assertThat(client.text(7)).isEqualTo("true");
              HeldByAnother.during(
                  context.getBean(LockTemplate.class).mutex(onBroker.name(), "8"),
                  () -> assertThat(client.text(8)).isEqualTo("unknown 8"));
            });
  }

  @Test
  void besideTransactions() {
    application
        .withUserConfiguration(HttpServices.class, Database.class, Transactions.class)
        .run(
            context -> {
              HttpApi client = context.getBean(HttpApi.class);
              assertThat(client.inTransaction()).isTrue();
              assertThat(client.guardedInTransaction()).isTrue();
            });
  }

  @HttpExchange
  interface HiddenApi {
    @MutexGuarded(
        name = "${test.lock}",
        key = "#id",
        onBusy = OnBusy.FALLBACK,
        fallbackMethod = "unknown")
    @GetExchange("/held")
    String text(@RequestParam long id);

    default String unknown(long id, LockException.AcquireTimeout busy) {
      return "unknown " + id;
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class HiddenHttpClient {
    @Bean
    HiddenApi hidden(@Value("${test.url}") String url) {
      return HttpServiceProxyFactory.builderFor(RestClientAdapter.create(RestClient.create(url)))
          .build()
          .createClient(HiddenApi.class);
    }
  }

  /** Spring calls default methods of public HTTP interfaces only. */
  @Test
  void alsoOfOneThatIsNotPublic() {
    application
        .withUserConfiguration(HiddenHttpClient.class)
        .run(
            context -> {
              HiddenApi client = context.getBean(HiddenApi.class);
              LockTemplate locks = context.getBean(LockTemplate.class);
              assertThat(client.text(7)).isEqualTo("true");
              try (Lease held = locks.mutex(onBroker.name(), "8").acquire()) {
                assertThat(client.text(8)).isEqualTo("unknown 8");
                assertThat(held.lossReason()).isEmpty();
              }
            });
  }

  // ---- a database

  @Configuration(proxyBeanMethods = false)
  static class Database {
    @Bean
    DataSource dataSource(@Value("${test.database}") String name) {
      JdbcDataSource source = new JdbcDataSource();
      source.setURL("jdbc:h2:mem:" + name + ";DB_CLOSE_DELAY=-1");
      JdbcTemplate jdbc = new JdbcTemplate(source);
      jdbc.execute("CREATE ALIAS held FOR \"" + RemoteWork.class.getName() + ".held\"");
      jdbc.execute("CREATE TABLE picture (id BIGINT AUTO_INCREMENT PRIMARY KEY, name VARCHAR)");
      return source;
    }

    @Bean
    JdbcTransactionManager transactionManager(DataSource source) {
      return new JdbcTransactionManager(source);
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableTransactionManagement
  static class Transactions {}

  // ---- Spring Data

  record Picture(@Id Long id, String name) {}

  interface Pictures extends CrudRepository<Picture, Long> {
    @MutexGuarded(name = "${test.lock}", key = "#id", maxWait = "0s")
    @Query("SELECT held()")
    boolean held(long id);
  }

  /** Guards what it inherits from Spring Data too. */
  @MutexGuarded(name = "${test.lock}", maxWait = "0s")
  interface GuardedPictures extends CrudRepository<Picture, Long> {}

  @Configuration(proxyBeanMethods = false)
  @EnableJdbcRepositories(
      considerNestedRepositories = true,
      includeFilters =
          @Filter(
              type = FilterType.ASSIGNABLE_TYPE,
              classes = {Pictures.class, GuardedPictures.class}))
  static class Repositories extends AbstractJdbcConfiguration {
    @Bean
    NamedParameterJdbcTemplate jdbc(DataSource source) {
      return new NamedParameterJdbcTemplate(source);
    }
  }

  @Test
  void aRepositoryOfSpringData() {
    assertGuarded(
        application.withUserConfiguration(Database.class, Repositories.class),
        Pictures.class,
        Pictures::held);
  }

  @Test
  void anAnnotatedRepositoryGuardsTheMethodsThatItInherits() {
    application
        .withUserConfiguration(Database.class, Repositories.class)
        .run(
            context -> {
              GuardedPictures pictures = context.getBean(GuardedPictures.class);
              assertThat(pictures.findById(7L)).isEmpty();
              HeldByAnother.during(
                  context.getBean(LockTemplate.class).mutex(onBroker.name()),
                  () ->
                      assertThatExceptionOfType(LockException.AcquireTimeout.class)
                          .isThrownBy(pictures::count));
              await().until(() -> !onBroker.isMutexHeld());
              assertThat(pictures.count()).isZero();
            });
  }

  // ---- MyBatis

  @Mapper
  interface PictureMapper {
    @MutexGuarded(name = "${test.lock}", key = "#id", maxWait = "0s")
    @Select("SELECT held()")
    boolean held(long id);
  }

  @Configuration(proxyBeanMethods = false)
  @MapperScan(basePackageClasses = InterfaceBeansTest.class, annotationClass = Mapper.class)
  static class Mappers {
    @Bean
    SqlSessionFactoryBean sqlSessionFactory(DataSource source) {
      SqlSessionFactoryBean factory = new SqlSessionFactoryBean();
      factory.setDataSource(source);
      return factory;
    }
  }

  @Test
  void aMapperOfMyBatis() {
    assertGuarded(
        application.withUserConfiguration(Database.class, Mappers.class),
        PictureMapper.class,
        PictureMapper::held);
  }

  // ---- Feign

  @FeignClient(name = "pictures", url = "${test.url}")
  interface FeignApi {
    @MutexGuarded(name = "${test.lock}", key = "#id", maxWait = "0s")
    @GetMapping("/held")
    boolean held(@RequestParam("id") long id);
  }

  @Configuration(proxyBeanMethods = false)
  @EnableFeignClients(clients = FeignApi.class)
  static class FeignClients {
    /** Spring Cloud's own, beside Spring Data, needs one more module of Boot. */
    @Bean
    Encoder encoder() {
      return new Encoder.Default();
    }
  }

  @Test
  void aClientOfFeign() {
    assertGuarded(
        application
            .withConfiguration(
                AutoConfigurations.of(
                    FeignAutoConfiguration.class, HttpMessageConvertersAutoConfiguration.class))
            .withUserConfiguration(FeignClients.class),
        FeignApi.class,
        FeignApi::held);
  }

  // ---- created too early

  /** Is created before those that make proxies, and has a bean created with it. */
  static final class Early implements BeanPostProcessor, PriorityOrdered {
    @Override
    public int getOrder() {
      return HIGHEST_PRECEDENCE;
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class NeedsARepository {
    @Bean
    static Early early(Pictures pictures) {
      return new Early();
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class NeedsAMapper {
    @Bean
    static Early early(PictureMapper mapper) {
      return new Early();
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class NeedsAnHttpService {
    @Bean
    static Early early(HttpApi client) {
      return new Early();
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class NeedsAFeignClient {
    @Bean
    static Early early(FeignApi client) {
      return new Early();
    }
  }

  private void assertRefused(ApplicationContextRunner with, Class<?> type) {
    with.run(
        context ->
            assertThat(context)
                .getFailure()
                .isInstanceOf(GuardedMethodException.class)
                .hasMessageContaining(type.getSimpleName() + "' of ")
                .hasMessageContaining("has guarded methods but no proxy that guards them"));
  }

  @Test
  void aRepositoryThatIsCreatedTooEarlyStopsTheStart() {
    assertRefused(
        application.withUserConfiguration(
            Database.class, Repositories.class, NeedsARepository.class),
        Pictures.class);
  }

  @Test
  void soDoesAMapper() {
    assertRefused(
        application.withUserConfiguration(Database.class, Mappers.class, NeedsAMapper.class),
        PictureMapper.class);
  }

  @Test
  void soDoesAnHttpService() {
    assertRefused(
        application.withUserConfiguration(HttpServices.class, NeedsAnHttpService.class),
        HttpApi.class);
  }

  @Test
  void soDoesAFeignClient() {
    assertRefused(
        application
            .withConfiguration(
                AutoConfigurations.of(
                    FeignAutoConfiguration.class, HttpMessageConvertersAutoConfiguration.class))
            .withUserConfiguration(FeignClients.class, NeedsAFeignClient.class),
        FeignApi.class);
  }
}
