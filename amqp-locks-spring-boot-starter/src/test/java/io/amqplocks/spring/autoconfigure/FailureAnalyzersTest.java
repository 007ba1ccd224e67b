package io.amqplocks.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.LockException;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.SemaphoreGuarded;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Isolated;
import org.springframework.amqp.rabbit.connection.CachingConnectionFactory;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Configuration;
import org.springframework.mock.env.MockEnvironment;

/** Each way in which an application cannot start tells what to do. */
@BrokerTest
@Isolated("its output is captured")
@ExtendWith(OutputCaptureExtension.class)
class FailureAnalyzersTest {

  @AutoClose private final LocksOnBroker onBroker;
  private final String name;
  private final Broker broker;
  private final ApplicationContextRunner application;
  private final ApplicationContextRunner bare =
      new ApplicationContextRunner()
          .withConfiguration(AutoConfigurations.of(AmqpLocksAutoConfiguration.class));

  FailureAnalyzersTest(Broker broker) {
    this.broker = broker;
    onBroker = new LocksOnBroker(broker);
    name = onBroker.name();
    application =
        onBroker.application().withPropertyValues("amqp-locks.semaphores." + name + ".slots=2");
  }

  /** Without any RabbitMQ. */
  @Configuration(proxyBeanMethods = false)
  @ImportAutoConfiguration(AmqpLocksAutoConfiguration.class)
  static class NoRabbit {}

  @Test
  void anApplicationShowsIt(CapturedOutput output) {
    SpringApplication started = new SpringApplication(NoRabbit.class);
    started.setWebApplicationType(WebApplicationType.NONE);
    assertThatExceptionOfType(Exception.class).isThrownBy(started::run);
    assertThat(output)
        .contains("APPLICATION FAILED TO START")
        .contains("The locks have no RabbitMQ to use")
        .contains("spring-boot-starter-rabbitmq with 4.2");
  }

  @Test
  void noConnectionFactory() {
    FailureAnalysis analysis = StartFailures.of(bare);
    assertThat(analysis.getDescription()).contains("there is no bean of type");
    assertThat(analysis.getAction())
        .contains("spring-boot-starter-amqp with Spring Boot 4.0 and 4.1")
        .contains("spring-boot-starter-rabbitmq with 4.2")
        .contains("amqp-locks.enabled=false");
  }

  @Test
  void severalConnectionFactories() {
    FailureAnalysis analysis =
        StartFailures.of(
            bare.withBean("a", CachingConnectionFactory.class)
                .withBean("b", CachingConnectionFactory.class));
    assertThat(analysis.getDescription()).contains("several beans of type").contains("a, b");
    assertThat(analysis.getAction())
        .contains("amqp-locks.connection-factory=a")
        .contains("@Primary");
  }

  @Test
  void theConnectionFactoryThatIsNamedIsNotThere() {
    FailureAnalysis analysis =
        StartFailures.of(
            bare.withBean("a", CachingConnectionFactory.class)
                .withPropertyValues("amqp-locks.connection-factory=b"));
    assertThat(analysis.getDescription()).contains("amqp-locks.connection-factory is 'b'");
    assertThat(analysis.getAction()).isEqualTo("Name one of these: a.");
  }

  @Test
  void aMissingPermissionNamesTheCommandThatGivesIt() {
    broker.faults().addUser("poor", "secret", "^$", "^$", "^$");
    ApplicationContextRunner ofPoorUser =
        application.withPropertyValues("spring.rabbitmq.username=poor");
    String prefix = onBroker.mutexQueue().replaceFirst("mutex\\..*", "");
    // The properties are not what counts: it may be a URI, a bean or a provider of credentials.
    FailureAnalysis analysis =
        StartFailures.of(
            ofPoorUser.withPropertyValues(
                "spring.rabbitmq.addresses=amqp://poor:secret@%s:%d"
                    .formatted(broker.host(), broker.port()),
                "spring.rabbitmq.username=somebody"),
            "spring.rabbitmq.username=somebody",
            "amqp-locks.queue-prefix=" + prefix);
    assertThat(analysis.getDescription())
        .contains("RabbitMQ refuses to")
        .contains(name)
        .contains("the user needs the permissions configure and read on the locks' queues")
        .contains("and write on 'amq.default'");
    Matcher command =
        Pattern.compile("set_permissions -p '/' 'poor' '(\\S+)' '(\\S+)' '(\\S+)'")
            .matcher(analysis.getAction());
    assertThat(command.find()).isTrue();

    broker.faults().deleteUser("poor");
    broker.faults().addUser("poor", "secret", command.group(1), command.group(2), command.group(3));
    ofPoorUser
        .withPropertyValues("spring.rabbitmq.password=secret")
        .run(context -> assertThat(context).hasNotFailed());
  }

  @Test
  void wrongCredentials() {
    FailureAnalysis analysis = StartFailures.of(application, "spring.rabbitmq.password=wrong");
    assertThat(analysis.getDescription()).contains("refuses the user name or password");
    assertThat(analysis.getAction()).contains("spring.rabbitmq.password");
  }

  static class FourSlots {
    @SemaphoreGuarded(name = "${test.lock}", slots = 4)
    void four() {}

    @SemaphoreGuarded(name = "${test.lock}", slots = 5)
    void five() {}
  }

  @Test
  void declarationsThatContradictEachOther() {
    FailureAnalysis analysis = StartFailures.of(onBroker.application().withBean(FourSlots.class));
    assertThat(analysis.getDescription()).contains("4 slots by").contains("5 slots by");
    assertThat(analysis.getAction())
        .isEqualTo("Make them equal, or decide by amqp-locks.semaphores." + name + ".slots.");
  }

  @Test
  void otherSlotsAtTheBrokerWhereThatIsToFail() {
    onBroker.<Integer>administer(
        admin -> admin.tokenSemaphore(name).createIfAbsent(7, TokenQueueType.CLASSIC));
    String property = "amqp-locks.semaphores." + name;
    FailureAnalysis analysis = StartFailures.of(application, property + ".on-mismatch=fail");
    assertThat(analysis.getDescription())
        .contains("has 7 slots at the broker, configured are 2")
        .contains(property + ".on-mismatch is fail");
    assertThat(analysis.getAction()).contains("Configure 7 slots").contains("to adopt");
    assertThat(onBroker.tokens()).isEqualTo(7);
  }

  @Test
  void aStrangersQueueInTheWay() throws Exception {
    application.run(context -> assertThat(context).hasNotFailed());
    String queue =
        onBroker.queues().stream().filter(q -> q.endsWith(".record")).findFirst().orElseThrow();
    onBroker.close();
    try (Connection connection = broker.connectionFactory().newConnection();
        Channel channel = connection.createChannel()) {
      channel.queueDeclare(queue, true, false, true, null);
    }
    FailureAnalysis analysis = StartFailures.of(application);
    assertThat(analysis.getDescription()).contains(name, queue);
    assertThat(analysis.getAction())
        .contains("Something else has made a queue of that name", "amqp-locks.queue-prefix");
  }

  /**
   * Not for real: all brokers that we test with have all types, and none of them can be told to do
   * without one. The words are those of the core for a refusal that it knows nothing else of.
   */
  @Test
  void aTypeOfQueueThatTheBrokerDoesNotHave() {
    FailureAnalysis analysis =
        new LockFailureAnalyzer(new MockEnvironment())
            .analyze(
                new LockException.Unexpected(
                    "RabbitMQ did not declare queue q for token semaphore 'images': NOT_IMPLEMENTED",
                    null));
    assertThat(Objects.requireNonNull(analysis).getAction())
        .contains("amqp-locks.semaphore-queue-type=classic");
  }

  @Test
  void ofARefusalThatDoesNotSayWhoTheCommandLeavesThatOpen() {
    FailureAnalysis analysis =
        new LockFailureAnalyzer(new MockEnvironment())
            .analyze(new LockException.Refused("no; the user needs the permissions", null));
    assertThat(Objects.requireNonNull(analysis).getAction())
        .contains("set_permissions -p 'VHOST' 'USER' ");
  }

  @Test
  void whatMayGoAwayByItselfIsNotAnalyzed() {
    assertThat(
            new LockFailureAnalyzer(new MockEnvironment())
                .analyze(new LockException.Unreachable("no broker", null)))
        .isNull();
    assertThat(
            new LockFailureAnalyzer(new MockEnvironment())
                .analyze(new LockException.Unexpected("RabbitMQ did not take messages", null)))
        .isNull();
  }

  static class Fixed {
    @SemaphoreGuarded(name = "${test.lock}", slots = 2)
    final void upload() {}
  }

  @Test
  void aMethodThatCannotBeGuarded() {
    FailureAnalysis analysis = StartFailures.of(application.withBean(Fixed.class));
    assertThat(analysis.getDescription()).contains("Fixed.upload()", "final");
    assertThat(analysis.getAction()).contains("LockTemplate");
  }
}
