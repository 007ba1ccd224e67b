package io.amqplocks.sample.readme;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.leader.LeaderElection;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockId;
import io.amqplocks.sample.readme.ImageShop.Backlog;
import io.amqplocks.sample.readme.ImageShop.Bills;
import io.amqplocks.sample.readme.ImageShop.Guarded;
import io.amqplocks.sample.readme.ImageShop.Image;
import io.amqplocks.sample.readme.ImageShop.Invoice;
import io.amqplocks.sample.readme.ImageShop.Log;
import io.amqplocks.sample.readme.ImageShop.Order;
import io.amqplocks.sample.readme.ImageShop.Receipt;
import io.amqplocks.sample.readme.ImageShop.Server;
import io.amqplocks.sample.readme.ImageShop.Shop;
import io.amqplocks.sample.readme.ImageShop.Statements;
import io.amqplocks.sample.readme.ImageShop.Table;
import io.amqplocks.spring.LockHandle;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.MutexAlgorithm;
import io.amqplocks.spring.OnUnavailable;
import io.amqplocks.spring.autoconfigure.AmqpLocksProperties;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerFaults;
import io.amqplocks.test.BrokerQueue;
import io.amqplocks.test.BrokerTest;
import io.micrometer.context.ContextRegistry;
import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import javax.xml.parsers.DocumentBuilderFactory;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.slf4j.Logger;
import org.slf4j.MDC;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.bind.handler.NoUnboundElementsBindHandler;
import org.springframework.boot.context.properties.source.ConfigurationPropertySources;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.AdviceMode;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.transaction.PlatformTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;
import org.w3c.dom.Element;
import org.w3c.dom.NodeList;

/** What the READMEs tell users to write compiles, and does what they say. */
@BrokerTest
class ReadmeTest {

  private static final String README = "README.md";
  private static final String SPRING = "docs/SPRING.md";
  private static final String OPERATIONS = "docs/OPERATIONS.md";
  private static final String LEADERS = "docs/LEADERS.md";
  private static final String SOLE_CONSUMER = "docs/SOLE-CONSUMER.md";
  private static final String TESTING = "docs/TESTING.md";
  private static final String MIGRATION = "docs/MIGRATION.md";
  private static final String SAMPLE = "amqp-locks-sample-app/README.md";

  private static final Duration LONG = Duration.ofSeconds(30);
  private static final Image IMAGE = new Image("moon.jpg");

  private final Snippets readme = new Snippets(README);
  private final ConnectionFactory broker;
  private final BrokerFaults faults;
  private final Runnable leaveNothingBehind;

  /** Durable queues outlive their users, so that each test needs some of its own. */
  private final String prefix = "test-" + UUID.randomUUID().toString().substring(0, 8) + ".";

  private final Server server = new Server();
  private final Bills bills = new Bills();
  private final Table table = new Table();
  private final Log log = new Log();

  @TempDir private Path folder;

  ReadmeTest(Broker broker) throws Exception {
    this.broker = broker.connectionFactory();
    faults = broker.faults();
    leaveNothingBehind =
        () ->
            broker.faults().queues().stream()
                .map(BrokerQueue::name)
                .filter(queue -> queue.startsWith(prefix))
                .forEach(broker.faults()::deleteQueue);
  }

  @AfterEach
  void leaveNothingBehind() {
    leaveNothingBehind.run();
    // The page about Spring registers it.
    ContextRegistry.getInstance().removeThreadLocalAccessor("request");
  }

  @Test
  void everySnippetHasATest() throws Exception {
    Snippets sample = new Snippets(SAMPLE);
    assertThat(readme.names())
        .containsExactlyInAnyOrder(
            "dependency",
            "application-yml",
            "guarded-method",
            "more-guarded-methods",
            "plain-java");
    assertThat(sample.names()).containsExactly("testcontainers-test");
    Snippets testing = new Snippets(TESTING);
    assertThat(testing.names())
        .containsExactlyInAnyOrder(
            "in-memory-dependency",
            "in-memory-test",
            "in-memory-extension",
            "in-memory-semaphore",
            "test-dependency",
            "fault-test");
    assertThat(testing.nameless()).isEmpty();
    Snippets migration = new Snippets(MIGRATION);
    assertThat(migration.names())
        .containsExactlyInAnyOrder("juc", "kotlin", "spring-integration", "shedlock", "keep-alive");
    assertThat(migration.nameless()).isEmpty();
    Snippets spring = new Snippets(SPRING);
    assertThat(spring.names())
        .containsExactlyInAnyOrder(
            "bom",
            "spring-application-yml",
            "fallback",
            "lease-lost",
            "read-write",
            "self-invocation",
            "migration",
            "load-time-weaving",
            "aop-xml",
            "compile-time-weaving",
            "scheduled",
            "release-after",
            "mdc",
            "template");
    Snippets leaders = new Snippets(LEADERS);
    assertThat(leaders.names())
        .containsExactlyInAnyOrder(
            "leader-task",
            "leader-check",
            "leader-only",
            "leader-listener",
            "leader-bean",
            "leader-scheduled");
    assertThat(leaders.nameless()).isEmpty();
    Snippets soleConsumer = new Snippets(SOLE_CONSUMER);
    assertThat(soleConsumer.names()).containsExactlyInAnyOrder("sole-consumer", "active-queue");
    assertThat(soleConsumer.nameless()).isEmpty();
    assertThat(new Snippets(OPERATIONS).names()).containsExactly("admin-at-night");
    assertThat(spring.nameless()).isEmpty();
    assertThat(readme.nameless()).isEmpty();
    assertThat(sample.nameless()).isEmpty();
  }

  @Test
  void theDependencyIsTheStarter() throws Exception {
    Element told = xml(readme.text("dependency"));
    Element pom = xml(Files.readString(Snippets.file("amqp-locks-spring-boot-starter/pom.xml")));
    Element parent = (Element) pom.getElementsByTagName("parent").item(0);
    assertThat(children(told))
        .isEqualTo(
            Map.of(
                "groupId", children(parent).get("groupId"),
                "artifactId", children(pom).get("artifactId"),
                "version", children(parent).get("version")));
  }

  /** Weaving itself is tested with the starter, and with a module that has this plugin. */
  @Test
  void whatIsWovenIsTheStartersAspect() throws Exception {
    Snippets page = new Snippets(SPRING);
    assertThat(Files.readString(Snippets.file("amqp-locks-boot-lines/4.1-woven/pom.xml")))
        .containsIgnoringWhitespaces(page.text("compile-time-weaving"));
    Map<String, String> starter = children(xml(readme.text("dependency")));
    Element plugin = xml(page.text("compile-time-weaving"));
    assertThat(children((Element) plugin.getElementsByTagName("aspectLibrary").item(0)))
        .isEqualTo(
            Map.of("groupId", starter.get("groupId"), "artifactId", starter.get("artifactId")));
    assertThat(xml(page.text("aop-xml")).getElementsByTagName("include").getLength()).isOne();
    String command = page.text("load-time-weaving");
    assertThat(command).contains("-javaagent:aspectjweaver.jar");
    String mode = command.replaceFirst("(?s).*--amqp-locks.annotations.mode=(\\w+).*", "$1");
    assertThat(
            new Binder(new MapConfigurationPropertySource(Map.of("mode", mode)))
                .bind("mode", AdviceMode.class)
                .get())
        .isEqualTo(AdviceMode.ASPECTJ);
  }

  @Test
  void theBomHasTheModulesThatUsersDependOn() throws Exception {
    Element bom = xml(Files.readString(Snippets.file("amqp-locks-bom/pom.xml")));
    Element parent = xml(Files.readString(Snippets.file("pom.xml")));
    assertThat(children(bom).get("version")).isEqualTo(children(parent).get("version"));
    List<String> managed = new ArrayList<>();
    NodeList dependencies = bom.getElementsByTagName("dependency");
    for (int i = 0; i < dependencies.getLength(); i++) {
      managed.add(children((Element) dependencies.item(i)).get("artifactId"));
    }
    assertThat(managed)
        .containsExactlyInAnyOrder(
            "amqp-locks-core",
            "amqp-locks-spring-boot-starter",
            "amqp-locks-juc",
            "amqp-locks-kotlin",
            "amqp-locks-in-memory",
            "amqp-locks-spring-integration",
            "amqp-locks-shedlock",
            "amqp-locks-test");
  }

  /** As all modules of the project do. */
  @Test
  void theBomIsImportedAsThePageSays() throws Exception {
    Element told = xml(new Snippets(SPRING).text("bom"));
    Map<String, String> bom = children((Element) told.getElementsByTagName("dependency").item(0));
    Map<String, String> own =
        children(xml(Files.readString(Snippets.file("amqp-locks-bom/pom.xml"))));
    assertThat(bom)
        .containsEntry("groupId", own.get("groupId"))
        .containsEntry("artifactId", own.get("artifactId"))
        .containsEntry("version", own.get("version"));
    bom.put("version", "${project.version}");
    NodeList ours =
        xml(Files.readString(Snippets.file("pom.xml"))).getElementsByTagName("dependency");
    List<Map<String, String>> managed = new ArrayList<>();
    for (int i = 0; i < ours.getLength(); i++) {
      managed.add(children((Element) ours.item(i)));
    }
    assertThat(managed)
        .filteredOn(each -> Objects.equals(each.get("groupId"), bom.get("groupId")))
        .containsExactly(bom);
  }

  @Test
  void everyPropertyIsOneOfOurs() throws Exception {
    AmqpLocksProperties page = bound(new Snippets(SPRING).text("spring-application-yml"));
    assertThat(page.defaultWait()).isEqualTo(Duration.ofSeconds(10));
    assertThat(page.annotations().onUnavailable()).isEqualTo(OnUnavailable.FAIL);
    assertThat(page.semaphores()).containsOnlyKeys("images");
    assertThat(page.mutexes())
        .hasEntrySatisfying(
            "nightly-report",
            report -> assertThat(report.algorithm()).isEqualTo(MutexAlgorithm.TOKENS));
    assertThat(bound(readme.text("application-yml")).semaphores())
        .hasEntrySatisfying(
            "images",
            images -> {
              assertThat(images.slots()).isEqualTo(5);
              assertThat(images.maxWait()).isEqualTo(Duration.ofSeconds(30));
            });
  }

  /** The properties of that text; a failure if one is not ours. */
  private static AmqpLocksProperties bound(String yaml) throws Exception {
    var loaded =
        new YamlPropertySourceLoader()
            .load("snippet", new ByteArrayResource(yaml.getBytes(StandardCharsets.UTF_8)));
    return new Binder(ConfigurationPropertySources.from(loaded))
        .bind(
            "amqp-locks",
            Bindable.of(AmqpLocksProperties.class),
            new NoUnboundElementsBindHandler(BindHandler.DEFAULT))
        .get();
  }

  @Test
  void plainJava() throws Exception {
    String builder = "AmqpLocks.builder(connectionFactory)";
    String snippet = readme.text("plain-java");
    assertThat(snippet).contains(builder);
    Statements compiled =
        statements(snippet.replace(builder, builder + ".queuePrefix(\"" + prefix + "\")"));
    compiled.run(broker, server, IMAGE, table);
    compiled.run(broker, server, IMAGE, table);
    assertThat(server.stored()).containsExactly(IMAGE, IMAGE);
    assertThat(table.written()).hasSize(2).isSorted().doesNotHaveDuplicates();
  }

  private Statements statements(String code) throws Exception {
    return (Statements)
        instance(
            """
            package application;

            import com.rabbitmq.client.ConnectionFactory;
            import io.amqplocks.AmqpLocks;
            import io.amqplocks.admin.TokenQueueType;
            import io.amqplocks.lock.Lease;
            import io.amqplocks.sample.readme.ImageShop.*;
            import java.time.Duration;

            public class Snippet implements Statements {
              @Override
              public void run(
                  ConnectionFactory connectionFactory, Server server, Image image, Table table)
                  throws Exception {
            %s
              }
            }
            """
                .formatted(code));
  }

  /** Somebody has taken a token away by hand. */
  @Test
  void administrationAtNight() throws Exception {
    String builder = "AmqpLocks.builder(connectionFactory)";
    String timeout = "Duration.ofMinutes(10)";
    String snippet = new Snippets(OPERATIONS).text("admin-at-night");
    assertThat(snippet).contains(builder, timeout);
    Statements compiled =
        statements(
            snippet
                .replace(builder, builder + ".queuePrefix(\"" + prefix + "\")")
                .replace(timeout, "Duration.ofSeconds(1)"));
    try (AmqpLocks locks = AmqpLocks.builder(broker).queuePrefix(prefix).build();
        Connection connection = broker.newConnection();
        Channel channel = connection.createChannel()) {
      locks.admin().tokenSemaphore("images").create(2, TokenQueueType.CLASSIC);
      String tokens =
          faults.queues().stream()
              .map(BrokerQueue::name)
              .filter(queue -> queue.startsWith(prefix) && queue.contains(".tokens."))
              .findAny()
              .orElseThrow();
      assertThat(channel.basicGet(tokens, true)).isNotNull();
      try (Lease unused = locks.tokenSemaphore("images").tryAcquire().orElseThrow()) {
        assertThat(locks.tokenSemaphore("images").tryAcquire()).isEmpty();
      }
      compiled.run(broker, server, IMAGE, table);
      try (Lease unused = locks.tokenSemaphore("images").acquire(Duration.ofSeconds(30));
          Lease second = locks.tokenSemaphore("images").acquire(Duration.ofSeconds(30))) {
        assertThat(second.verify()).isEqualTo(LeaseState.HELD);
      }
    }
  }

  @Test
  void leadersInPlainJava() throws Exception {
    Snippets page = new Snippets(LEADERS);
    Statements compiled =
        (Statements)
            instance(
                """
                package application;

                import com.rabbitmq.client.ConnectionFactory;
                import io.amqplocks.AmqpLocks;
                import io.amqplocks.leader.LeaderElection;
                import io.amqplocks.sample.readme.ImageShop.*;
                import java.time.Duration;

                public class Snippet implements Statements {
                  @Override
                  public void run(
                      ConnectionFactory connectionFactory, Server server, Image image, Table table)
                      throws Exception {
                    try (AmqpLocks locks =
                        AmqpLocks.builder(connectionFactory).queuePrefix("%s").build()) {
                %s
                      try (election) {
                %s
                        election.awaitLeadership(Duration.ofSeconds(30)).orElseThrow();
                %s
                        while (table.written().isEmpty()) {
                          Thread.sleep(10);
                        }
                      }
                    }
                  }
                }
                """
                    .formatted(
                        prefix,
                        page.text("leader-task"),
                        page.text("leader-check"),
                        page.text("leader-check")));
    compiled.run(broker, server, IMAGE, table);
    assertThat(server.stored()).hasSizeBetween(1, 2);
    long first = table.written().get(0);
    assertThat(table.written()).isNotEmpty().containsOnly(first);
  }

  @Test
  void aSoleConsumer() throws Exception {
    String snippet = new Snippets(SOLE_CONSUMER).text("sole-consumer");
    String queue = prefix + "feed";
    try (var connection = broker.newConnection();
        var channel = connection.createChannel()) {
      channel.queueDeclare(queue, true, false, false, null);
      for (int i = 0; i < 3; i++) {
        channel.basicPublish("", queue, null, new byte[0]);
      }
      soleConsumer(snippet, 3).run(broker, server, IMAGE, table);
      assertThat(table.written()).hasSize(3);
      assertThat(channel.messageCount(queue)).isZero();
    }
  }

  @Test
  void aSoleConsumerWithAnActiveQueue() throws Exception {
    String snippet = new Snippets(SOLE_CONSUMER).text("active-queue");
    String ingress = prefix + "prices";
    assertThat(snippet).contains("\"prices\",").contains("consumer").contains("show(delivery)");
    String queue = prefix + "feed";
    try (var connection = broker.newConnection();
        var channel = connection.createChannel()) {
      channel.exchangeDeclare(ingress, "topic", true);
      channel.queueDeclare(queue, true, false, false, null);
      channel.queueBind(queue, ingress, "#");
      for (int i = 0; i < 3; i++) {
        channel.basicPublish(ingress, "any", null, new byte[0]);
      }
      String whole =
          snippet
                  .replace("\"prices\",", "\"" + ingress + "\",")
                  .replace("show(delivery)", "table.write(delivery.body().length)")
              + "\nconsumer.start();";
      soleConsumer(whole, 3).run(broker, server, IMAGE, table);
      assertThat(table.written()).hasSize(3);
      assertThat(channel.messageCount(queue)).isZero();
      channel.exchangeDelete(ingress);
    }
  }

  /** The snippet with a queue of this test's, until so many messages were handled. */
  private Statements soleConsumer(String snippet, int messages) throws Exception {
    assertThat(snippet).contains("\"feed\",");
    return (Statements)
        instance(
            """
            package application;

            import com.rabbitmq.client.ConnectionFactory;
            import io.amqplocks.AmqpLocks;
            import io.amqplocks.consumer.SoleConsumer;
            import io.amqplocks.sample.readme.ImageShop.*;

            public class Snippet implements Statements {
              @Override
              public void run(
                  ConnectionFactory connectionFactory, Server server, Image image, Table table)
                  throws Exception {
                try (AmqpLocks locks =
                    AmqpLocks.builder(connectionFactory).queuePrefix("%s").build()) {
            %s
                  try (consumer) {
                    while (table.written().size() < %d) {
                      Thread.sleep(10);
                    }
                  }
                }
              }
            }
            """
                .formatted(
                    prefix, snippet.replace("\"feed\",", "\"" + prefix + "feed\","), messages));
  }

  @Test
  void leadersInAnApplication() throws Exception {
    Snippets page = new Snippets(LEADERS);
    String source =
        """
        package application;

        import io.amqplocks.AmqpLocks;
        import io.amqplocks.leader.LeaderElection;
        import io.amqplocks.sample.readme.ImageShop.*;
        import org.springframework.context.annotation.Bean;
        import org.springframework.context.annotation.Import;
        import org.springframework.scheduling.annotation.Scheduled;

        @Import(Snippet.Feed.class)
        public class Snippet {

        %s

          public static class Feed implements Runnable {

            private final LeaderElection feedLeader;
            private final Table table;

            public Feed(LeaderElection feedLeader, Table table) {
              this.feedLeader = feedLeader;
              this.table = table;
            }

        %s

            @Override
            public void run() {
              poll();
            }
          }
        }
        """
            .formatted(page.text("leader-bean"), page.text("leader-scheduled"));
    try (var application = application(compiled(source));
        AmqpLocks others = AmqpLocks.builder(broker).queuePrefix(prefix).build()) {
      LeaderElection election = application.getBean(LeaderElection.class);
      assertThat(election.awaitLeadership(LONG)).isPresent();
      application.getBean(Runnable.class).run();
      assertThat(table.written()).hasSize(1);
      CompletableFuture<Lease> next = others.mutex("feed").acquireAsync(LONG);
      await()
          .atMost(LONG)
          .until(
              () ->
                  faults.queues().stream()
                      .anyMatch(
                          queue ->
                              queue.name().equals(prefix + "mutex.feed")
                                  && queue.consumers() == 2));
      assertThat(election.yieldLeadership()).isTrue();
      try (Lease another = next.get(1, TimeUnit.MINUTES)) {
        application.getBean(Runnable.class).run();
        assertThat(table.written()).hasSize(1);
        assertThat(another.lossReason()).isEmpty();
      }
      assertThat(election.awaitLeadership(LONG)).isPresent();
      application.getBean(Runnable.class).run();
      assertThat(table.written()).hasSize(2).isSorted().doesNotHaveDuplicates();
    }
  }

  @Test
  void leadersByAnnotation() throws Exception {
    Snippets page = new Snippets(LEADERS);
    String queue = prefix + "orders";
    String listener = page.text("leader-listener");
    assertThat(listener).contains("queues = \"orders\"");
    String source =
        """
        package application;

        import io.amqplocks.sample.readme.ImageShop.*;
        import io.amqplocks.spring.LeaderOnly;
        import java.util.List;
        import java.util.concurrent.CopyOnWriteArrayList;
        import org.springframework.amqp.rabbit.annotation.RabbitListener;
        import org.springframework.context.annotation.Import;
        import org.springframework.scheduling.annotation.EnableScheduling;
        import org.springframework.scheduling.annotation.Scheduled;

        @EnableScheduling
        @Import(Snippet.Feed.class)
        public class Snippet {

          public static class Feed {

            private final Server server;
            private final Image image = new Image("one.png");
            private final List<String> backlog = new CopyOnWriteArrayList<>();

            public Feed(Server server) {
              this.server = server;
            }

        %s

        %s

            public List<String> backlog() {
              return backlog;
            }
          }
        }
        """
            .formatted(
                page.text("leader-only"),
                listener.replace("queues = \"orders\"", "queues = \"" + queue + "\""));
    try (var connection = broker.newConnection();
        var channel = connection.createChannel()) {
      channel.queueDeclare(queue, true, false, false, null);
      channel.basicPublish("", queue, null, "7".getBytes(StandardCharsets.UTF_8));
      Class<?> compiled = compiled(source);
      try (var application = application(compiled)) {
        Object feed = application.getBean(compiled.getClasses()[0]);
        await().atMost(LONG).until(() -> !server.stored().isEmpty());
        await()
            .atMost(LONG)
            .until(
                () -> feed.getClass().getMethod("backlog").invoke(feed).toString().equals("[7]"));
      }
      assertThat(channel.messageCount(queue)).isZero();
      channel.queueDelete(queue);
    }
  }

  @Test
  void asManyUploadsAtOnceAsThereAreSlots() throws Exception {
    try (var application = application()) {
      Guarded guarded = application.getBean(Guarded.class);
      AmqpLocks locks = application.getBean(AmqpLocks.class);
      assertThat(locks.admin().tokenSemaphore("images").count()).isEqualTo(5);

      CountDownLatch open = server.shut();
      ExecutorService threads = Executors.newFixedThreadPool(8);
      List<Future<?>> uploads = new ArrayList<>();
      for (int i = 0; i < 8; i++) {
        uploads.add(threads.submit(() -> guarded.upload(IMAGE)));
      }
      await().atMost(LONG).until(() -> locks.status().waiting() == 3 && server.inside() == 5);
      assertThat(guarded.accept(IMAGE)).isEqualTo(new Receipt("backlog"));
      open.countDown();
      for (Future<?> upload : uploads) {
        upload.get(1, TimeUnit.MINUTES);
      }
      threads.shutdown();
      // A token goes back by a message that nobody waits for.
      await().atMost(LONG).until(() -> guarded.accept(IMAGE).equals(new Receipt("server")));
      assertThat(server.stored()).hasSize(9);
    }
  }

  @Test
  void oneLockForEachOrderUntilItsMonoEnds() throws Exception {
    try (var application = application()) {
      Guarded guarded = application.getBean(Guarded.class);
      AmqpLocks locks = application.getBean(AmqpLocks.class);
      CompletableFuture<@Nullable Invoice> one = guarded.invoice(new Order("7")).toFuture();
      CompletableFuture<@Nullable Invoice> two = guarded.invoice(new Order("8")).toFuture();
      await().atMost(LONG).until(() -> locks.leases().size() == 2);
      assertThat(locks.leases())
          .extracting(lease -> lease.lock())
          .containsExactlyInAnyOrder(LockId.mutex("order:7"), LockId.mutex("order:8"));
      CompletableFuture<@Nullable Invoice> third = guarded.invoice(new Order("7")).toFuture();
      await().atMost(LONG).until(() -> locks.status().waiting() == 1);

      Invoice invoice = new Invoice(new Order("7"));
      bills.made.tryEmitValue(invoice).orThrow();
      for (CompletableFuture<@Nullable Invoice> each : List.of(one, two, third)) {
        assertThat(each.get(1, TimeUnit.MINUTES)).isEqualTo(invoice);
      }
      await().atMost(LONG).until(() -> locks.leases().isEmpty());
    }
  }

  @Test
  void aReportGetsTheFencingTokenOfItsLease() throws Exception {
    try (var application = application()) {
      Guarded guarded = application.getBean(Guarded.class);
      guarded.report(null);
      guarded.report(null);
      assertThat(table.written()).hasSize(2).isSorted().doesNotHaveDuplicates();
    }
  }

  /** A class with what the page about Spring shows. */
  private Class<?> springPage() throws Exception {
    Snippets page = new Snippets(SPRING);
    String source =
        """
        package application;

        import io.amqplocks.lock.LockException;
        import io.amqplocks.sample.readme.ImageShop.*;
        import io.amqplocks.spring.*;
        import io.micrometer.context.ContextRegistry;
        import java.time.Duration;
        import java.util.List;
        import org.slf4j.Logger;
        import org.slf4j.MDC;
        import org.springframework.boot.context.event.ApplicationReadyEvent;
        import org.springframework.context.event.EventListener;
        import org.springframework.scheduling.annotation.Scheduled;

        public class Snippet implements Shop {

          private final Logger log;
          private final Server server;
          private final Backlog backlog;
          private final Table table;
          private final LockTemplate locks;

          public Snippet(
              Logger log, Server server, Backlog backlog, Table table, LockTemplate locks) {
            this.log = log;
            this.server = server;
            this.backlog = backlog;
            this.table = table;
            this.locks = locks;
          }

        %s
        %s
        %s
        %s
        %s
        %s
        %s

          static {
        %s
          }

          public boolean useTemplate(Image image) {
        %s
            return ran && receipt.from().equals("server");
          }
        }
        """
            .formatted(
                page.text("fallback"),
                page.text("lease-lost"),
                page.text("self-invocation"),
                page.text("migration"),
                page.text("scheduled"),
                page.text("release-after"),
                page.text("read-write"),
                page.text("mdc"),
                page.text("template"));
    return compiled(source);
  }

  @Test
  void theFallbackOfThePageAboutSpring() throws Exception {
    try (var application = application(springPage())) {
      Shop shop = application.getBean(Shop.class);
      LockHandle images = application.getBean(LockTemplate.class).semaphore("images");
      try (Lease all = images.withPermits(5).acquire()) {
        assertThat(shop.process(IMAGE)).isEqualTo(new Receipt("backlog"));
        assertThat(log.lines()).containsExactly("All slots are in use");
        assertThat(all.permits()).isEqualTo(5);
      }
      assertThat(server.stored()).isEmpty();
      await().atMost(LONG).until(() -> shop.process(IMAGE).equals(new Receipt("server")));
    }
  }

  @Test
  void theListenerForLossesOfThePageAboutSpring() throws Exception {
    try (var application = application(springPage());
        Lease lease = application.getBean(LockTemplate.class).mutex("any").acquire()) {
      faults.deleteQueue(prefix + "mutex.any");
      await().atMost(LONG).until(() -> !log.lines().isEmpty());
      assertThat(log.lines())
          .containsExactly(
              "Work under %s may not be alone: %s"
                  .formatted(LockId.mutex("any"), lease.lossReason().orElseThrow()));
    }
  }

  @Test
  void theReadersAndTheWriterOfThePageAboutSpring() throws Exception {
    try (var application = application(springPage())) {
      Shop shop = application.getBean(Shop.class);
      AmqpLocks locks = application.getBean(AmqpLocks.class);
      CompletableFuture<Void> change;
      try (Lease reader = locks.readWriteLock("prices").readLock().acquire(LONG)) {
        assertThat(shop.prices()).as("beside %s", reader).isEmpty();
        change = CompletableFuture.runAsync(() -> shop.change(7));
        await().atMost(LONG).until(() -> locks.status().waiting() == 1);
        assertThat(table.written()).isEmpty();
      }
      assertThat(change).succeedsWithin(LONG);
      assertThat(shop.prices()).containsExactly(7L);
    }
  }

  @Test
  void whatThePageAboutSpringShows() throws Exception {
    try (var application = application(springPage())) {
      Shop shop = application.getBean(Shop.class);
      assertThat(table.migrations()).as("at startup").isEqualTo(1);
      assertThat(shop.process(IMAGE)).isEqualTo(new Receipt("server"));
      shop.uploadAll(List.of(IMAGE, IMAGE));
      assertThat(server.stored()).hasSize(3);
      assertThat(shop.useTemplate(IMAGE)).isTrue();
      assertThat(table.removals()).isEqualTo(1);
      // Two instances, one after the other, within the minimum hold.
      shop.cleanUp();
      shop.cleanUp();
      assertThat(table.removals()).isEqualTo(2);
      AmqpLocks locks = application.getBean(AmqpLocks.class);
      new TransactionTemplate(application.getBean(PlatformTransactionManager.class))
          .executeWithoutResult(
              status -> {
                shop.take("card", 2);
                assertThat(locks.leases())
                    .extracting(lease -> lease.lock())
                    .contains(LockId.mutex("stock:card"));
              });
      assertThat(table.taken()).isEqualTo(2);
      assertThat(locks.leases())
          .extracting(lease -> lease.lock())
          .doesNotContain(LockId.mutex("stock:card"));
      assertThat(requestSeenElsewhere(application.getBean(LockTemplate.class))).isEqualTo("r1");
    }
  }

  /** What work on another thread sees of the caller's MDC. */
  private static String requestSeenElsewhere(LockTemplate locks) {
    MDC.put("request", "r1");
    try {
      return locks
          .mutex("any")
          .executeAsync(() -> CompletableFuture.completedFuture(MDC.get("request")))
          .join();
    } finally {
      MDC.remove("request");
    }
  }

  @Test
  void theTestsOfAUsersReportPass() throws Exception {
    String snippet = new Snippets(TESTING).text("fault-test");
    ClassLoader application =
        new SnippetCompiler(folder)
            .compile(
                Map.of(
                    "application.NightlyReportTest",
                    """
                    package application;

                    import static org.junit.jupiter.api.Assertions.assertEquals;

                    import io.amqplocks.AmqpLocks;
                    import io.amqplocks.lock.Lease;
                    import io.amqplocks.lock.LeaseState;
                    import io.amqplocks.test.Broker;
                    import io.amqplocks.test.BrokerTest;
                    import java.time.Duration;
                    import java.util.Optional;
                    import java.util.concurrent.TimeUnit;
                    import org.junit.jupiter.api.AfterEach;
                    import org.junit.jupiter.api.Test;

                    %s
                    """
                        .formatted(snippet)));
    EngineTestKit.engine("junit-jupiter")
        .selectors(selectClass(application.loadClass("application.NightlyReportTest")))
        .execute()
        .testEvents()
        .assertStatistics(events -> events.started(2).succeeded(2));
  }

  /** The bridges' own tests run them, since the sample has none of their libraries. */
  @ParameterizedTest
  @CsvSource({
    "juc, java, juc",
    "kotlin, kotlin, kotlin",
    "spring-integration, java, spring/integration",
    "shedlock, java, shedlock"
  })
  void whatMigrationSaysIsInATestOfTheBridge(String name, String language, String folder)
      throws Exception {
    Path test =
        Snippets.file(
            "amqp-locks-%s/src/test/%s/io/amqplocks/%s/MigrationTest.%s"
                .formatted(name, language, folder, language.equals("kotlin") ? "kt" : language));
    // The formatter breaks lines elsewhere.
    assertThat(Files.readString(test))
        .containsIgnoringWhitespaces(new Snippets(MIGRATION).text(name));
  }

  @Test
  void whatMigrationSaysOfKeepAliveIsInATestOfTheStarter() throws Exception {
    Path test =
        Snippets.file(
            "amqp-locks-spring-boot-starter/src/test/java/io/amqplocks/spring/autoconfigure/BridgesTest.java");
    assertThat(Files.readString(test))
        .containsIgnoringWhitespaces(new Snippets(MIGRATION).text("keep-alive"));
  }

  /** The module's own tests run it, in classes with what it needs around it. */
  @ParameterizedTest
  @ValueSource(strings = {"in-memory-test", "in-memory-extension", "in-memory-semaphore"})
  void whatTestingSaysIsInATestOfTheLocksInMemory(String name) throws Exception {
    Path test =
        Snippets.file(
            "amqp-locks-in-memory/src/test/java/io/amqplocks/inmemory/TestingPageTest.java");
    assertThat(Files.readString(test))
        .containsIgnoringWhitespaces(new Snippets(TESTING).text(name));
  }

  @ParameterizedTest
  @CsvSource({
    "in-memory-dependency, amqp-locks-in-memory/pom.xml",
    "test-dependency, amqp-locks-test/pom.xml"
  })
  void theTestKitIsTheModulesOwn(String name, String file) throws Exception {
    Map<String, String> told = children(xml(new Snippets(TESTING).text(name)));
    Element pom = xml(Files.readString(Snippets.file(file)));
    Element parent = (Element) pom.getElementsByTagName("parent").item(0);
    assertThat(told)
        .isEqualTo(
            Map.of(
                "groupId", children(parent).get("groupId"),
                "artifactId", children(pom).get("artifactId"),
                "version", children(parent).get("version"),
                "scope", "test"));
  }

  /** Without Docker it is compiled, and {@code NightlyReportTest} runs the same. */
  @Test
  void theTestToCopyIsATestOfTheSample() throws Exception {
    Path test =
        Snippets.file(
            "amqp-locks-sample-app/src/test/java/io/amqplocks/sample/report/"
                + "NightlyReportWithDockerTest.java");
    assertThat(Files.readString(test)).endsWith(new Snippets(SAMPLE).text("testcontainers-test"));
  }

  /** An application with the guarded methods of the README, and its properties. */
  private ConfigurableApplicationContext application() throws Exception {
    String source =
        """
        package application;

        import io.amqplocks.lock.FencingToken;
        import io.amqplocks.sample.readme.ImageShop.*;
        import io.amqplocks.spring.*;
        import reactor.core.publisher.Mono;

        public class Snippet implements Guarded {

          private final Server server;
          private final Backlog backlog;
          private final Bills bills;
          private final Table table;

          public Snippet(Server server, Backlog backlog, Bills bills, Table table) {
            this.server = server;
            this.backlog = backlog;
            this.bills = bills;
            this.table = table;
          }

        %s

        %s
        }
        """
            .formatted(readme.text("guarded-method"), readme.text("more-guarded-methods"));
    return application(compiled(source));
  }

  private ConfigurableApplicationContext application(Class<?> guarded) throws Exception {
    return new SpringApplicationBuilder(Application.class)
        .web(WebApplicationType.NONE)
        .initializers(
            context -> {
              GenericApplicationContext beans = (GenericApplicationContext) context;
              beans.setClassLoader(guarded.getClassLoader());
              beans.registerBean(Server.class, () -> server);
              beans.registerBean(Backlog.class);
              beans.registerBean(Bills.class, () -> bills);
              beans.registerBean(Table.class, () -> table);
              beans.registerBean(Logger.class, log::logger);
              beans.registerBean(guarded);
            })
        .run(
            "--spring.config.location=" + applicationYml().toUri(),
            "--spring.rabbitmq.host=" + broker.getHost(),
            "--spring.rabbitmq.port=" + broker.getPort(),
            "--spring.rabbitmq.username=" + broker.getUsername(),
            "--spring.rabbitmq.password=" + broker.getPassword(),
            "--spring.rabbitmq.virtual-host=" + broker.getVirtualHost(),
            "--amqp-locks.queue-prefix=" + prefix);
  }

  @SpringBootConfiguration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Application {}

  private Path applicationYml() throws Exception {
    return Files.writeString(folder.resolve("application.yml"), readme.text("application-yml"));
  }

  private Object instance(String source) throws Exception {
    return compiled(source).getConstructor().newInstance();
  }

  private Class<?> compiled(String source) throws Exception {
    return new SnippetCompiler(folder)
        .compile(Map.of("application.Snippet", source))
        .loadClass("application.Snippet");
  }

  private static Element xml(String text) throws Exception {
    return DocumentBuilderFactory.newDefaultInstance()
        .newDocumentBuilder()
        .parse(new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)))
        .getDocumentElement();
  }

  private static Map<String, String> children(Element element) {
    Map<String, String> children = new TreeMap<>();
    for (var child = element.getFirstChild(); child != null; child = child.getNextSibling()) {
      if (child instanceof Element each) {
        children.put(each.getTagName(), each.getTextContent().strip());
      }
    }
    return children;
  }
}
