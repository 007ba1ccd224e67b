package io.amqplocks.spring.internal.leader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import io.amqplocks.AmqpLocks;
import io.amqplocks.consumer.SoleConsumer;
import io.amqplocks.leader.LeaderElection;
import io.amqplocks.leader.Leadership;
import io.amqplocks.leader.Revocation.Cause;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockId;
import io.amqplocks.spring.Contexts;
import io.amqplocks.spring.LeaderOnly;
import io.amqplocks.spring.LeadershipGrantedEvent;
import io.amqplocks.spring.LeadershipRevokedEvent;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.internal.health.AmqpLocksHealthIndicator;
import io.amqplocks.spring.internal.metrics.LeaderGauges;
import io.amqplocks.spring.internal.metrics.LockMeters;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import jakarta.annotation.PostConstruct;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.amqp.rabbit.annotation.RabbitListener;
import org.springframework.amqp.rabbit.config.ContainerCustomizer;
import org.springframework.amqp.rabbit.listener.RabbitListenerEndpointRegistry;
import org.springframework.amqp.rabbit.listener.SimpleMessageListenerContainer;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.beans.factory.annotation.Value;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.Lifecycle;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.event.EventListener;
import org.springframework.scheduling.annotation.EnableScheduling;
import org.springframework.scheduling.annotation.Scheduled;

@BrokerTest(everyLine = true)
class LeaderOnlyTest {

  private static final Duration LONG = Duration.ofSeconds(60);

  @AutoClose private final LocksOnBroker onBroker;
  private final Broker broker;
  private Connection connection;
  private Channel channel;

  LeaderOnlyTest(Broker broker) {
    this.broker = broker;
    onBroker = new LocksOnBroker(broker);
  }

  @BeforeEach
  void declare() throws Exception {
    connection = broker.connectionFactory().newConnection();
    channel = connection.createChannel();
    channel.queueDeclare(onBroker.name(), true, false, false, Map.of());
    channel.confirmSelect();
  }

  /** Or the one that yields might lead again. */
  private void awaitTwoContenders() {
    onBroker.awaitContenders(2);
  }

  @AfterEach
  void delete() throws Exception {
    channel.queueDelete(onBroker.name());
    connection.close();
  }

  private void publish(int from, int to) throws Exception {
    for (int i = from; i < to; i++) {
      channel.basicPublish(
          "", onBroker.name(), null, Integer.toString(i).getBytes(StandardCharsets.UTF_8));
    }
    channel.waitForConfirmsOrDie(30_000);
  }

  static class Job {
    final AtomicInteger runs = new AtomicInteger();

    @Scheduled(fixedDelay = 20)
    @LeaderOnly("${test.lock}")
    public void run() {
      runs.incrementAndGet();
    }

    int runs() {
      return runs.get();
    }
  }

  @Configuration(proxyBeanMethods = false)
  @EnableScheduling
  static class Scheduling {
    @Bean
    Job job() {
      return new Job();
    }
  }

  private ApplicationContextRunner application(Class<?>... configurations) {
    return onBroker
        .application()
        .withPropertyValues("amqp-locks.shutdown-timeout=20s")
        .withUserConfiguration(configurations);
  }

  private static LeaderElection election(
      org.springframework.context.ApplicationContext application) {
    List<LeaderElection> all = application.getBean(LeaderElections.class).all();
    assertThat(all).hasSize(1);
    return all.get(0);
  }

  @Test
  void aJobRunsWhereItsProcessLeadsAndThenElsewhere() {
    application(Scheduling.class)
        .run(
            first -> {
              await().until(() -> first.getBean(Job.class).runs() > 3);
              application(Scheduling.class)
                  .run(
                      second -> {
                        Job job = second.getBean(Job.class);
                        await()
                            .during(Duration.ofMillis(300))
                            .until(() -> job.runs() == 0 && first.getBean(AmqpLocks.class) != null);
                        assertThat(election(second).isLeader()).isFalse();
                        int before = first.getBean(Job.class).runs();
                        await().until(() -> first.getBean(Job.class).runs() > before);
                        first.close();
                        await().until(() -> job.runs() > 3);
                      });
            });
  }

  /** Else it would be one of the locks that nobody names, for as long as it leads or waits. */
  @Test
  void theLockOfAnElectionHasMetersOfItsOwn() {
    application(Scheduling.class)
        .run(
            leader -> {
              await().until(() -> gauge(leader, "amqp.locks.held", onBroker.name()) == 1);
              assertThat(gauge(leader, "amqp.locks.held", LockMeters.OTHER)).isZero();
              application(Scheduling.class)
                  .run(
                      follower -> {
                        awaitTwoContenders();
                        String waiting = "amqp.locks.waiting";
                        await().until(() -> gauge(follower, waiting, onBroker.name()) == 1);
                        assertThat(gauge(follower, waiting, LockMeters.OTHER)).isZero();
                      });
            });
  }

  private static double gauge(
      org.springframework.context.ApplicationContext application, String meter, String lock) {
    return application
        .getBean(MeterRegistry.class)
        .get(meter)
        .tags("amqp.locks.name", lock, "amqp.locks.type", "mutex")
        .gauge()
        .value();
  }

  @Configuration(proxyBeanMethods = false)
  static class OwnElection {
    @Bean
    LeaderElection election(AmqpLocks locks, @Value("${test.lock}") String name) {
      return LeaderElection.on(locks.mutex(name).fenced())
          .yieldPause(Duration.ofMinutes(1))
          .build();
    }
  }

  @Test
  void anElectionThatIsABeanIsTheOneThatIsMeant() {
    application(Scheduling.class, OwnElection.class)
        .run(
            application -> {
              await().until(() -> application.getBean(Job.class).runs() > 3);
              LeaderElection bean = application.getBean(LeaderElection.class);
              assertThat(election(application)).isSameAs(bean);
              Leadership term = bean.leadership().orElseThrow();
              assertThat(term.fencingToken()).isPresent();
              assertThat(bean.yieldLeadership()).isTrue();
              Job job = application.getBean(Job.class);
              // A run that began before the yield may end now.
              await()
                  .untilAsserted(
                      () -> {
                        int runs = job.runs();
                        job.run();
                        assertThat(job.runs()).isEqualTo(runs);
                      });
            });
  }

  @Configuration(proxyBeanMethods = false)
  static class AnotherElection {
    @Bean
    LeaderElection another(AmqpLocks locks, @Value("${test.lock}") String name) {
      return LeaderElection.on(locks.fencedMutex(name)).build();
    }
  }

  @Test
  void twoElectionsOfOneNameAreRefused() {
    application(Scheduling.class, OwnElection.class, AnotherElection.class)
        .run(
            application ->
                assertThat(application)
                    .getFailure()
                    .hasStackTraceContaining("Several elections have a lock with the name")
                    .hasStackTraceContaining(onBroker.name()));
  }

  static class CallsItself {
    private final AtomicInteger runs = new AtomicInteger();
    @Autowired private CallsItself self;

    @LeaderOnly("${test.lock}")
    public void run() {
      runs.incrementAndGet();
    }

    int runs() {
      self.run();
      return runs.get();
    }
  }

  /** Spring makes its proxy before the bean is ready, and puts that in its place after all. */
  @Test
  void aBeanThatIsInjectedIntoItselfHasAProxy() {
    application()
        .withAllowCircularReferences(true)
        .withBean(CallsItself.class)
        .run(
            application -> {
              CallsItself bean = application.getBean(CallsItself.class);
              await().until(() -> bean.runs() > 0);
              assertThat(election(application).isLeader()).isTrue();
            });
  }

  @Test
  void withoutLocksItRunsEverywhere() {
    Contexts.withoutBroker()
        .withPropertyValues("amqp-locks.enabled=false", "test.lock=x")
        .withUserConfiguration(Scheduling.class)
        .run(application -> await().until(() -> application.getBean(Job.class).runs() > 3));
  }

  static class Orders {
    final List<Integer> numbers = new CopyOnWriteArrayList<>();

    @RabbitListener(id = "orders", queues = "${test.lock}", autoStartup = "false")
    @LeaderOnly("${test.lock}")
    public void book(byte[] number) {
      numbers.add(Integer.valueOf(new String(number, StandardCharsets.UTF_8)));
    }

    List<Integer> numbers() {
      return numbers;
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class Listening {
    @Bean
    Orders orders() {
      return new Orders();
    }

    @Bean
    ContainerCustomizer<SimpleMessageListenerContainer> patience() {
      return container -> container.setShutdownTimeout(LONG.toMillis());
    }
  }

  private static boolean isListening(org.springframework.context.ApplicationContext application) {
    return application
        .getBean(RabbitListenerEndpointRegistry.class)
        .getListenerContainers()
        .stream()
        .allMatch(Lifecycle::isRunning);
  }

  @Test
  void aListenerConsumesWhereItsProcessLeadsAndLosesNothing() {
    application(Listening.class)
        .run(
            first -> {
              assertThat(election(first).awaitLeadership(LONG)).isPresent();
              await().until(() -> isListening(first));
              application(Listening.class)
                  .run(
                      second -> {
                        publish(0, 50);
                        Orders old = first.getBean(Orders.class);
                        await().until(() -> old.numbers().size() == 50);
                        assertThat(isListening(second)).isFalse();
                        awaitTwoContenders();
                        assertThat(election(first).yieldLeadership()).isTrue();
                        publish(50, 100);
                        Orders next = second.getBean(Orders.class);
                        await().until(() -> old.numbers().size() + next.numbers().size() >= 100);
                        assertThat(election(second).awaitLeadership(LONG)).isPresent();
                        await().until(() -> isListening(second) && !isListening(first));
                        publish(100, 110);
                        await().until(() -> next.numbers().contains(109));
                        assertThat(old.numbers()).doesNotContain(109);
                        List<Integer> all = new CopyOnWriteArrayList<>(old.numbers());
                        all.addAll(next.numbers());
                        assertThat(all)
                            .containsExactlyInAnyOrderElementsOf(
                                IntStream.range(0, 110).boxed().toList());
                      });
            });
  }

  /** Its queue is deleted, and Spring stops the container for good then. */
  @Test
  void aListenerThatStopsItselfDoesNotKeepTheLeadership() {
    application(Listening.class)
        .withPropertyValues("spring.rabbitmq.listener.simple.missing-queues-fatal=true")
        .run(
            application -> {
              Leadership term = election(application).awaitLeadership(LONG).orElseThrow();
              publish(0, 1);
              Orders orders = application.getBean(Orders.class);
              await().until(() -> orders.numbers().contains(0));
              channel.queueDelete(onBroker.name());
              await().atMost(LONG).until(() -> term.revocation().isPresent());
              assertThat(term.revocation().orElseThrow().cause()).isEqualTo(Cause.YIELDED);
              channel.queueDeclare(onBroker.name(), true, false, false, Map.of());
              publish(1, 2);
              // In a later term of the same process, as there is no other.
              await().atMost(LONG).until(() -> orders.numbers().contains(1));
            });
  }

  @Configuration(proxyBeanMethods = false)
  static class Tasked {
    final CompletableFuture<Duration> closed = new CompletableFuture<>();
    final CountDownLatch started = new CountDownLatch(1);

    @Bean
    LeaderElection election(
        AmqpLocks locks,
        ConfigurableApplicationContext context,
        @Value("${test.lock}") String name) {
      return LeaderElection.on(locks.mutex(name))
          .grace(LONG)
          .task(
              leadership -> {
                started.await();
                closeTimed(context, closed);
              })
          .build();
    }
  }

  private static void closeTimed(
      ConfigurableApplicationContext context, CompletableFuture<Duration> closed) {
    long begin = System.nanoTime();
    context.close();
    closed.complete(Duration.ofNanos(System.nanoTime() - begin));
  }

  /** It would wait for itself otherwise, for all of the grace period. */
  @Test
  void theTaskOfAnElectionMayCloseTheContext() {
    application(Tasked.class)
        .run(
            application -> {
              Tasked tasked = application.getBean(Tasked.class);
              tasked.started.countDown();
              assertThat(tasked.closed.get(50, TimeUnit.SECONDS))
                  .isLessThan(Duration.ofSeconds(30));
              await().until(() -> !onBroker.isMutexHeld());
            });
  }

  @Configuration(proxyBeanMethods = false)
  static class Ending {
    final CompletableFuture<Duration> closed = new CompletableFuture<>();

    @Bean
    SoleConsumer consumer(
        AmqpLocks locks,
        Broker broker,
        ConfigurableApplicationContext context,
        @Value("${test.lock}") String name) {
      return SoleConsumer.of(
              locks.mutex(name),
              broker.connectionFactory(),
              name,
              delivery -> closeTimed(context, closed))
          .grace(LONG)
          .build();
    }
  }

  /** As the one above. */
  @Test
  void theHandlerOfASoleConsumerMayCloseTheContext() {
    application(Ending.class)
        .withBean(Broker.class, () -> broker, definition -> definition.setDestroyMethodName(""))
        .run(
            application -> {
              Ending ending = application.getBean(Ending.class);
              publish(0, 1);
              assertThat(ending.closed.get(50, TimeUnit.SECONDS))
                  .isLessThan(Duration.ofSeconds(30));
              await().until(() -> !onBroker.isMutexHeld());
            });
  }

  /** Before the container of the listener is there, as a registry's post-processor may. */
  static class BindsEarly implements SmartInitializingSingleton {
    private final ObjectProvider<LeaderGauges> gauges;
    private final ObjectProvider<RabbitListenerEndpointRegistry> listeners;
    private final MeterRegistry registry = new SimpleMeterRegistry();

    BindsEarly(
        ObjectProvider<LeaderGauges> gauges,
        ObjectProvider<RabbitListenerEndpointRegistry> listeners) {
      this.gauges = gauges;
      this.listeners = listeners;
    }

    @Override
    public void afterSingletonsInstantiated() {
      assertThat(listeners.getObject().getListenerContainers()).isEmpty();
      gauges.getObject().bindTo(registry);
    }
  }

  @Test
  void aGaugeMayBeBoundBeforeThereAreContainers() {
    application()
        .withBean(BindsEarly.class)
        .withUserConfiguration(Listening.class)
        .run(
            application -> {
              assertThat(application).hasNotFailed();
              await().until(() -> isListening(application));
              assertThat(election(application).isLeader()).isTrue();
              assertThat(
                      application
                          .getBean(BindsEarly.class)
                          .registry
                          .get("amqp.locks.leader")
                          .tag("amqp.locks.name", onBroker.name())
                          .gauge()
                          .value())
                  .isEqualTo(1);
            });
  }

  /** Its handler takes long, and there is a backlog. */
  static class SlowOrders {
    static final AtomicInteger inside = new AtomicInteger();
    static final AtomicInteger most = new AtomicInteger();
    static final List<Integer> done = new CopyOnWriteArrayList<>();

    @RabbitListener(id = "slow", queues = "${test.lock}", autoStartup = "false")
    @LeaderOnly("${test.lock}")
    public void book(byte[] number) throws InterruptedException {
      most.accumulateAndGet(inside.incrementAndGet(), Math::max);
      TimeUnit.MILLISECONDS.sleep(100);
      done.add(Integer.valueOf(new String(number, StandardCharsets.UTF_8)));
      inside.decrementAndGet();
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class SlowListening {
    @Bean
    SlowOrders orders() {
      return new SlowOrders();
    }

    @Bean
    ContainerCustomizer<SimpleMessageListenerContainer> patience() {
      return container -> container.setShutdownTimeout(LONG.toMillis());
    }
  }

  /**
   * With retries, which would drop what is thrown back; by a yield, and by an ordinary shutdown.
   */
  @Test
  void theNextListenerBeginsAfterTheOldHandlerHasEndedAndABacklogIsNotLost() throws Exception {
    SlowOrders.done.clear();
    SlowOrders.most.set(0);
    publish(0, 40);
    ApplicationContextRunner application =
        application(SlowListening.class)
            .withPropertyValues(
                "spring.rabbitmq.listener.simple.retry.enabled=true",
                "spring.rabbitmq.listener.simple.prefetch=5");
    application.run(
        first -> {
          await().until(() -> SlowOrders.done.size() > 5);
          application.run(
              second -> {
                awaitTwoContenders();
                publish(40, 80);
                assertThat(election(first).yieldLeadership()).isTrue();
                assertThat(election(second).awaitLeadership(LONG)).isPresent();
                int done = SlowOrders.done.size();
                await().until(() -> SlowOrders.done.size() > done + 5);
                second.close();
                await().until(() -> SlowOrders.done.size() >= 80);
              });
        });
    assertThat(SlowOrders.most).hasValue(1);
    assertThat(SlowOrders.done)
        .containsExactlyInAnyOrderElementsOf(IntStream.range(0, 80).boxed().toList());
  }

  @Test
  void aFollowerThatIsStartedAgainDoesNotListen() {
    application(Listening.class)
        .run(
            first -> {
              assertThat(election(first).awaitLeadership(LONG)).isPresent();
              application(Listening.class)
                  .run(
                      second -> {
                        second.getSourceApplicationContext().stop();
                        second.getSourceApplicationContext().start();
                        assertThat(isListening(second)).isFalse();
                        await().until(() -> isListening(first));
                      });
            });
  }

  /** Whose handler waits until it may end. */
  static class WaitingOrders {
    final CountDownLatch entered = new CountDownLatch(1);
    final CountDownLatch mayEnd = new CountDownLatch(1);
    final AtomicInteger granted = new AtomicInteger();

    @RabbitListener(id = "waiting", queues = "${test.lock}", autoStartup = "false")
    @LeaderOnly("${test.lock}")
    public void book(byte[] unused) throws InterruptedException {
      entered.countDown();
      if (!mayEnd.await(60, TimeUnit.SECONDS)) {
        // For an Error the container would end the JVM.
        throw new IllegalStateException("The test did not let it end");
      }
    }

    /** After the container was told. */
    @EventListener
    public void granted(LeadershipGrantedEvent unused) {
      granted.incrementAndGet();
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class WaitingListening {
    @Bean
    WaitingOrders orders() {
      return new WaitingOrders();
    }
  }

  @Test
  void aListenerRunsThatIsStoppedAfterARestartWhenItsProcessBeginsToLead() throws Exception {
    try (AmqpLocks others = onBroker.stranger();
        Lease lease = others.mutex(onBroker.name()).acquire(LONG)) {
      application(WaitingListening.class)
          .run(
              application -> {
                WaitingOrders orders = application.getBean(WaitingOrders.class);
                application.getSourceApplicationContext().stop();
                publish(0, 1);
                // As Spring does first when the context is started again.
                application.getBean(RabbitListenerEndpointRegistry.class).start();
                assertThat(orders.entered.await(30, TimeUnit.SECONDS)).isTrue();
                // It stops the container again, which waits for the handler for 5 s.
                CompletableFuture<Void> restart =
                    CompletableFuture.runAsync(application.getSourceApplicationContext()::start);
                await().until(application.getBean(LeaderElections.class)::isRunning);
                lease.close();
                assertThat(election(application).awaitLeadership(LONG)).isPresent();
                restart.get(30, TimeUnit.SECONDS);
                await().until(() -> orders.granted.get() == 1);
                orders.mayEnd.countDown();
                assertThat(election(application).isLeader()).isTrue();
                assertThat(isListening(application)).isTrue();
              });
    }
  }

  @Test
  void aLeaderWhoseContextIsStoppedDoesNotListenBeforeItIsStartedAgain() throws Exception {
    try (AmqpLocks others = onBroker.stranger();
        Lease lease = others.mutex(onBroker.name()).acquire(LONG)) {
      application(WaitingListening.class)
          .run(
              application -> {
                WaitingOrders orders = application.getBean(WaitingOrders.class);
                application.getSourceApplicationContext().stop();
                lease.close();
                await().until(() -> orders.granted.get() == 1);
                assertThat(isListening(application)).isFalse();
                application.getSourceApplicationContext().start();
                assertThat(election(application).isLeader()).isTrue();
                assertThat(isListening(application)).isTrue();
              });
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class Consuming {
    final List<String> events = new CopyOnWriteArrayList<>();

    @Bean
    SoleConsumer consumer(AmqpLocks locks, Broker broker, @Value("${test.lock}") String name) {
      return SoleConsumer.of(
              locks.mutex(name),
              broker.connectionFactory(),
              name,
              delivery -> events.add(new String(delivery.body(), StandardCharsets.UTF_8)))
          .build();
    }

    @Bean
    MeterRegistry registry() {
      return new SimpleMeterRegistry();
    }

    @EventListener
    void granted(LeadershipGrantedEvent event) {
      events.add("granted");
    }

    @EventListener
    void revoked(LeadershipRevokedEvent event) {
      events.add("revoked");
    }
  }

  @Test
  void aSoleConsumerThatIsABeanIsStartedAndClosed() {
    List<String> events = new CopyOnWriteArrayList<>();
    application(Consuming.class)
        .withBean(Broker.class, () -> broker, definition -> definition.setDestroyMethodName(""))
        .run(
            application -> {
              Consuming consuming = application.getBean(Consuming.class);
              publish(0, 1);
              await().until(() -> consuming.events.contains("0"));
              await()
                  .until(
                      () ->
                          application
                                  .getBean(MeterRegistry.class)
                                  .get("amqp.locks.leader")
                                  .gauge()
                                  .value()
                              == 1);
              assertThat(application.getBean(AmqpLocksHealthIndicator.class).health().getDetails())
                  .containsEntry("leads", Map.of(LockId.mutex(onBroker.name()).toString(), true));
              application.close();
              events.addAll(consuming.events);
            });
    assertThat(events).containsExactlyInAnyOrder("granted", "0", "revoked").endsWith("revoked");
  }

  @Configuration(proxyBeanMethods = false)
  static class StandingBy {
    @Bean
    SoleConsumer consumer(AmqpLocks locks, Broker broker, @Value("${test.lock}") String name) {
      return SoleConsumer.of(locks.mutex(name), broker.connectionFactory(), name, delivery -> {})
          .standByConnected()
          .build();
    }
  }

  /** By its own start: its election's knows nothing of connections. */
  @Test
  void aSoleConsumerThatIsABeanStandsByConnected() throws Exception {
    try (AmqpLocks others = onBroker.stranger();
        Lease lease = others.mutex(onBroker.name()).acquire(LONG)) {
      application(StandingBy.class)
          .withBean(Broker.class, () -> broker, definition -> definition.setDestroyMethodName(""))
          .run(
              application -> {
                await()
                    .until(
                        () ->
                            broker.faults().connections().stream()
                                .anyMatch(name -> name.contains("consumer of " + onBroker.name())));
                assertThat(application.getBean(SoleConsumer.class).isActive()).isFalse();
              });
      assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
    }
  }

  @Configuration(proxyBeanMethods = false)
  static class Leaving {
    final CompletableFuture<Duration> closed = new CompletableFuture<>();
    final CountDownLatch started = new CountDownLatch(1);
    private final ConfigurableApplicationContext context;

    Leaving(ConfigurableApplicationContext context) {
      this.context = context;
    }

    @Bean
    LeaderElection election(AmqpLocks locks, @Value("${test.lock}") String name) {
      return LeaderElection.on(locks.mutex(name)).grace(LONG).build();
    }

    /** As an application that ends when it is not the leader any more. */
    @EventListener
    void granted(LeadershipGrantedEvent event) throws Exception {
      started.await();
      long begin = System.nanoTime();
      context.close();
      closed.complete(Duration.ofNanos(System.nanoTime() - begin));
    }
  }

  /** The listener's thread would wait for itself otherwise, for all of the grace period. */
  @Test
  void aListenerMayCloseTheContext() {
    application(Leaving.class)
        .run(
            application -> {
              Leaving leaving = application.getBean(Leaving.class);
              leaving.started.countDown();
              assertThat(leaving.closed.get(50, TimeUnit.SECONDS))
                  .isLessThan(Duration.ofSeconds(30));
              await().until(() -> !onBroker.isMutexHeld());
            });
  }

  @Retention(RetentionPolicy.RUNTIME)
  @interface StrangeListener {}

  static class FinalMethod {
    @LeaderOnly("x")
    public final void run() {}
  }

  static class PrivateMethod {
    @SuppressWarnings("UnusedMethod")
    @LeaderOnly("x")
    private void run() {}
  }

  static class ResultMethod {
    @LeaderOnly("x")
    public String run() {
      return "";
    }
  }

  static class OtherListener {
    @StrangeListener
    @LeaderOnly("x")
    public void run() {}
  }

  static class TwoListeners {
    @RabbitListener(id = "y", queues = "y", autoStartup = "false")
    @RabbitListener(id = "z", queues = "z", autoStartup = "false")
    @LeaderOnly("x")
    public void run(String text) {}
  }

  @Retention(RetentionPolicy.RUNTIME)
  @StrangeListener
  @interface Composed {}

  static class ComposedListener {
    @Composed
    @LeaderOnly("x")
    public void run() {}
  }

  static class Initializing {
    @PostConstruct
    @LeaderOnly("x")
    public void run() {}
  }

  static class ListenerThatStarts {
    @RabbitListener(id = "y", queues = "y")
    @LeaderOnly("x")
    public void run(String text) {}
  }

  static class ListenerWithoutId {
    @RabbitListener(queues = "y", autoStartup = "false")
    @LeaderOnly("x")
    public void run(String text) {}
  }

  @ParameterizedTest
  @ValueSource(
      classes = {
        FinalMethod.class,
        PrivateMethod.class,
        ResultMethod.class,
        OtherListener.class,
        TwoListeners.class,
        ComposedListener.class,
        Initializing.class,
        ListenerThatStarts.class,
        ListenerWithoutId.class
      })
  void whereTheAnnotationWouldDoNothingOrLoseMessagesTheStartFails(Class<?> type) {
    application()
        .withBean(type)
        .run(
            application ->
                assertThat(application)
                    .getFailure()
                    .hasStackTraceContaining(type.getName() + ".run() cannot be @LeaderOnly"));
  }
}
