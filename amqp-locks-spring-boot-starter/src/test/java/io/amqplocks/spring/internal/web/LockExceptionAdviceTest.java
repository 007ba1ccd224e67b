package io.amqplocks.spring.internal.web;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.autoconfigure.AmqpLocksAutoConfiguration;
import io.amqplocks.spring.autoconfigure.AmqpLocksWebAutoConfiguration;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.Direction;
import io.amqplocks.test.TcpProxy;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.springframework.boot.amqp.autoconfigure.RabbitAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.HttpStatus;
import org.springframework.http.MediaType;
import org.springframework.test.web.reactive.server.WebTestClient;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.test.web.servlet.assertj.MvcTestResult;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.GetMapping;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.ResponseStatus;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;
import org.springframework.web.context.WebApplicationContext;
import org.springframework.web.reactive.config.EnableWebFlux;
import org.springframework.web.server.ResponseStatusException;
import org.springframework.web.servlet.config.annotation.EnableWebMvc;
import reactor.core.publisher.Mono;

/** The answers of MVC and of WebFlux, while a stranger holds the lock or the broker is away. */
@BrokerTest
class LockExceptionAdviceTest {

  @AutoClose private final LocksOnBroker onBroker;
  private final Broker broker;
  private final String name;

  LockExceptionAdviceTest(Broker broker) {
    this.broker = broker;
    onBroker = new LocksOnBroker(broker);
    name = onBroker.name();
  }

  @RestController
  static class Reports {
    @GetMapping("/report")
    @MutexGuarded(name = "${test.lock}", maxWait = "0s")
    String report() {
      return "made";
    }

    @GetMapping("/later")
    @MutexGuarded(name = "${test.lock}", maxWait = "0s")
    Mono<String> later() {
      return Mono.just("made");
    }

    @GetMapping("/translated")
    String translated() {
      throw new ResponseStatusException(
          HttpStatus.CONFLICT, "being edited", new LockException.AcquireTimeout("busy"));
    }

    @GetMapping("/withheld")
    String withheld() {
      throw new LockException.Unconfirmed("The result is withheld");
    }

    @GetMapping("/of/{album}")
    @MutexGuarded(name = "${test.lock}", key = "#album", maxWait = "10ms")
    String of(@PathVariable("album") String album) {
      return album;
    }
  }

  @RestControllerAdvice
  static class OwnAnswer {
    @ExceptionHandler
    @ResponseStatus(HttpStatus.CONFLICT)
    String busy(LockException.AcquireTimeout busy) {
      return busy.lock().orElseThrow() + " " + busy.lock().orElseThrow().name().key().orElse("-");
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableWebMvc
  static class Mvc {}

  @Configuration(proxyBeanMethods = false)
  @EnableWebFlux
  static class Flux {}

  private static AutoConfigurations configurations() {
    return AutoConfigurations.of(
        AopAutoConfiguration.class,
        PropertyPlaceholderAutoConfiguration.class,
        RabbitAutoConfiguration.class,
        AmqpLocksAutoConfiguration.class,
        AmqpLocksWebAutoConfiguration.class);
  }

  private WebApplicationContextRunner mvc() {
    return new WebApplicationContextRunner()
        .withConfiguration(configurations())
        .withUserConfiguration(Mvc.class, Reports.class)
        .withPropertyValues(onBroker.properties());
  }

  private static MvcTestResult get(WebApplicationContext context, String path, Object... parts) {
    return MockMvcTester.from(context).get().uri(path, parts).exchange();
  }

  @Test
  void aBusyLockIs429WithSpringMvc() {
    mvc()
        .withPropertyValues("amqp-locks.web.retry-after=1500ms")
        .run(
            context -> {
              try (AmqpLocks stranger = onBroker.stranger();
                  Lease lease = stranger.mutex(name).tryAcquire().orElseThrow()) {
                MvcTestResult busy = get(context, "/report");
                assertThat(busy).hasStatus(HttpStatus.TOO_MANY_REQUESTS);
                assertThat(busy).headers().hasValue("Retry-After", "2");
                assertThat(busy).hasContentTypeCompatibleWith(MediaType.APPLICATION_PROBLEM_JSON);
                assertThat(busy)
                    .bodyText()
                    .contains("in use")
                    .doesNotContain(lease.lock().name().value());
              }
              await()
                  .untilAsserted(
                      () ->
                          assertThat(get(context, "/report"))
                              .hasStatusOk()
                              .hasBodyTextEqualTo("made"));
            });
  }

  @Test
  void aBusyLockIs429WithWebFlux() {
    new ReactiveWebApplicationContextRunner()
        .withConfiguration(configurations())
        .withUserConfiguration(Flux.class, Reports.class)
        .withPropertyValues(onBroker.properties())
        .run(
            context -> {
              WebTestClient client =
                  WebTestClient.bindToApplicationContext((ApplicationContext) context).build();
              try (AmqpLocks stranger = onBroker.stranger();
                  Lease lease = stranger.mutex(name).tryAcquire().orElseThrow()) {
                client
                    .get()
                    .uri("/later")
                    .exchange()
                    .expectStatus()
                    .isEqualTo(HttpStatus.TOO_MANY_REQUESTS)
                    .expectHeader()
                    .valueEquals("Retry-After", "1")
                    .expectHeader()
                    .contentType(MediaType.APPLICATION_PROBLEM_JSON);
                assertThat(lease.age()).isPositive();
              }
              await()
                  .untilAsserted(() -> client.get().uri("/later").exchange().expectStatus().isOk());
            });
  }

  @Test
  void aBrokerThatIsAwayIs503() {
    TcpProxy gone = TcpProxy.to(broker);
    gone.close();
    mvc()
        .withPropertyValues("spring.rabbitmq.port=" + gone.port(), "amqp-locks.call-timeout=1s")
        .run(
            context -> {
              MvcTestResult away = get(context, "/report");
              assertThat(away).hasStatus(HttpStatus.SERVICE_UNAVAILABLE);
              assertThat(away).headers().hasValue("Retry-After", "1");
              assertThat(away)
                  .bodyText()
                  .doesNotContain(name)
                  .doesNotContain(String.valueOf(gone.port()));
            });
  }

  @Test
  void aBrokerThatIsAwayIs503WithWebFlux() {
    TcpProxy gone = TcpProxy.to(broker);
    gone.close();
    new ReactiveWebApplicationContextRunner()
        .withConfiguration(configurations())
        .withUserConfiguration(Flux.class, Reports.class)
        .withPropertyValues(onBroker.properties())
        .withPropertyValues("spring.rabbitmq.port=" + gone.port(), "amqp-locks.call-timeout=1s")
        .run(
            context ->
                WebTestClient.bindToApplicationContext((ApplicationContext) context)
                    .build()
                    .get()
                    .uri("/later")
                    .exchange()
                    .expectStatus()
                    .isEqualTo(HttpStatus.SERVICE_UNAVAILABLE)
                    .expectHeader()
                    .valueEquals("Retry-After", "1")
                    .expectHeader()
                    .contentType(MediaType.APPLICATION_PROBLEM_JSON));
  }

  /** The broker is there, and does not answer. */
  @Test
  void anUnansweredCallIs503() {
    try (TcpProxy proxy = TcpProxy.to(broker)) {
      mvc()
          .withPropertyValues("spring.rabbitmq.port=" + proxy.port())
          .run(
              context -> {
                assertThat(get(context, "/report")).hasStatusOk();
                proxy.blackHole(Direction.BOTH);
                MvcTestResult silent = get(context, "/report");
                assertThat(silent).hasStatus(HttpStatus.SERVICE_UNAVAILABLE);
                assertThat(silent).headers().hasValue("Retry-After", "1");
              });
    }
  }

  @Test
  void anApplicationsOwnHandlerWinsAndLearnsTheLockAndItsKey() {
    mvc()
        .withUserConfiguration(OwnAnswer.class)
        .run(
            context -> {
              try (AmqpLocks stranger = onBroker.stranger();
                  Lease lease = stranger.mutex(name).tryAcquire().orElseThrow();
                  Lease ofAlbum = stranger.mutex(name + ":a:b").tryAcquire().orElseThrow()) {
                assertThat(get(context, "/report"))
                    .hasStatus(HttpStatus.CONFLICT)
                    .hasBodyTextEqualTo(lease.lock() + " -");
                assertThat(get(context, "/of/{album}", "a:b"))
                    .hasStatus(HttpStatus.CONFLICT)
                    .hasBodyTextEqualTo(ofAlbum.lock() + " a:b");
              }
            });
  }

  /** A client that repeats its request after a 503 would have it done twice. */
  @Test
  void workThatWasDoneIsNotToBeRepeated() {
    mvc()
        .run(
            context ->
                assertThat(get(context, "/withheld"))
                    .failure()
                    .hasCauseInstanceOf(LockException.Unconfirmed.class));
  }

  @Test
  void whatTheApplicationHasTranslatedStaysWithSpringMvc() {
    mvc()
        .run(
            context ->
                assertThat(get(context, "/translated"))
                    .hasStatus(HttpStatus.CONFLICT)
                    .doesNotContainHeader("Retry-After"));
  }

  @Test
  void whatTheApplicationHasTranslatedStaysWithWebFlux() {
    new ReactiveWebApplicationContextRunner()
        .withConfiguration(configurations())
        .withUserConfiguration(Flux.class, Reports.class)
        .withPropertyValues(onBroker.properties())
        .run(
            context ->
                WebTestClient.bindToApplicationContext((ApplicationContext) context)
                    .build()
                    .get()
                    .uri("/translated")
                    .exchange()
                    .expectStatus()
                    .isEqualTo(HttpStatus.CONFLICT)
                    .expectHeader()
                    .doesNotExist("Retry-After"));
  }

  @Test
  void aPropertyTurnsItOff() {
    mvc()
        .withPropertyValues("amqp-locks.web.problem-details=false")
        .run(
            context -> {
              assertThat(context).doesNotHaveBean(LockExceptionAdvice.class);
              try (AmqpLocks stranger = onBroker.stranger();
                  Lease lease = stranger.mutex(name).tryAcquire().orElseThrow()) {
                assertThat(get(context, "/report"))
                    .failure()
                    .hasCauseInstanceOf(LockException.AcquireTimeout.class);
                assertThat(lease.age()).isPositive();
              }
            });
  }

  @Test
  void aPropertyTurnsItOffWithWebFlux() {
    new ReactiveWebApplicationContextRunner()
        .withConfiguration(configurations())
        .withUserConfiguration(Flux.class, Reports.class)
        .withPropertyValues(onBroker.properties())
        .withPropertyValues("amqp-locks.web.problem-details=false")
        .run(
            context -> {
              assertThat(context).doesNotHaveBean(LockExceptionAdvice.class);
              try (AmqpLocks stranger = onBroker.stranger();
                  Lease lease = stranger.mutex(name).tryAcquire().orElseThrow()) {
                WebTestClient.bindToApplicationContext((ApplicationContext) context)
                    .build()
                    .get()
                    .uri("/later")
                    .exchange()
                    .expectStatus()
                    .isEqualTo(HttpStatus.INTERNAL_SERVER_ERROR)
                    .expectHeader()
                    .doesNotExist("Retry-After");
                assertThat(lease.age()).isPositive();
              }
            });
  }
}
