package io.amqplocks.spring.internal.endpoint;

import static io.amqplocks.spring.internal.endpoint.EndpointApplication.OPENED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.jayway.jsonpath.DocumentContext;
import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.internal.endpoint.EndpointApplication.Answer;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

@BrokerTest(everyLine = true)
class AmqpLocksEndpointTest {

  private static final Duration LONG = Duration.ofSeconds(30);

  @AutoClose private final LocksOnBroker onBroker;
  private final String[] configured;

  AmqpLocksEndpointTest(Broker broker) {
    onBroker = new LocksOnBroker(broker);
    configured =
        new String[] {
          "amqp-locks.semaphores.images.slots=3",
          "amqp-locks.semaphores.videos.slots=2",
          "amqp-locks.semaphores.videos.algorithm=slots",
          "amqp-locks.mutexes.images.wait=1s",
          "amqp-locks.mutexes.report.algorithm=tokens"
        };
  }

  private EndpointApplication application(String... properties) {
    String[] all = new String[configured.length + properties.length];
    System.arraycopy(configured, 0, all, 0, configured.length);
    System.arraycopy(properties, 0, all, configured.length, properties.length);
    return new EndpointApplication(onBroker, all);
  }

  @Test
  void allLocksAtAGlance() throws Exception {
    try (EndpointApplication application = application()) {
      LockTemplate locks = application.bean(LockTemplate.class);
      Instant before = Instant.now();
      try (Lease image = locks.semaphore("images").acquire();
          Lease video = locks.semaphore("videos").acquire();
          Lease report = locks.mutex("report").fenced().acquire();
          Lease other = locks.mutex("made up at run time").acquire()) {
        assertThat(List.of(image, video, report, other)).doesNotHaveDuplicates();
        CompletableFuture<Lease> waiting =
            application.bean(AmqpLocks.class).fencedMutex("report").acquireAsync(LONG);
        await().atMost(LONG).until(() -> application.bean(AmqpLocks.class).status().waiting() == 1);

        // A verification gives a token back for a moment.
        await()
            .atMost(LONG)
            .untilAsserted(() -> assertAll(application.get("amqplocks"), video, before));

        report.close();
        waiting.get(30, TimeUnit.SECONDS).close();
      }
      await().atMost(LONG).until(() -> application.get("amqplocks").<Integer>read("$.held") == 0);
    }
  }

  private static void assertAll(Answer answer, Lease video, Instant before) {
    assertThat(answer.status()).isEqualTo(200);
    DocumentContext json = answer.json();
    assertThat(json.<String>read("$.session.state")).isEqualTo("OPEN");
    assertThat(json.<Boolean>read("$.session.blocked")).isFalse();
    assertThat(json.<Integer>read("$.held")).isEqualTo(4);
    assertThat(json.<Integer>read("$.waiting")).isEqualTo(1);
    assertThat(json.<List<String>>read("$.locks[*].['kind','name']")).hasSize(5);
    assertThat(broker(json, "semaphore", "images", "tokens"))
        .isEqualTo("{\"exists\":true,\"slots\":3,\"inUse\":1,\"free\":2}");
    assertThat(broker(json, "semaphore", "videos", "slots"))
        .isEqualTo(
            "{\"exists\":true,\"slots\":2,\"inUse\":1,\"free\":1,\"heldSlots\":[%d]}"
                .formatted(video.slot()));
    assertThat(broker(json, "mutex", "report", "tokens"))
        .isEqualTo("{\"slots\":1,\"inUse\":1,\"free\":0}");
    assertThat(broker(json, "mutex", "images", "single-active-consumer"))
        .isEqualTo("{\"slots\":1,\"inUse\":0,\"free\":1}");
    assertThat(broker(json, "mutex", "made up at run time", "single-active-consumer"))
        .isEqualTo("{\"slots\":1,\"inUse\":1,\"free\":0}");

    String held = "$.locks[?(@.kind=='mutex' && @.name=='report')]";
    assertThat(json.<List<Integer>>read(held + ".here.waiting")).containsExactly(1);
    assertThat(json.<List<String>>read(held + ".here.leases[0].state")).containsExactly("HELD");
    assertThat(json.<List<String>>read(held + ".here.leases[0].fencingToken"))
        .containsExactly("******");
    assertThat(json.<List<String>>read(held + ".here.leases[0].since"))
        .singleElement()
        .satisfies(
            since ->
                assertThat(Instant.parse(since)).isBetween(before.minusSeconds(2), Instant.now()));
    assertThat(json.<List<String>>read("$.locks[*].note")).isEmpty();
  }

  private static String broker(DocumentContext json, String kind, String name, String algorithm) {
    List<Object> found =
        json.read(
            "$.locks[?(@.kind=='%s' && @.name=='%s' && @.algorithm=='%s')].broker"
                .formatted(kind, name, algorithm));
    assertThat(found).as(kind + name).hasSize(1);
    return com.jayway.jsonpath.JsonPath.parse(found.get(0)).jsonString();
  }

  @Test
  void oneLock() {
    try (EndpointApplication application =
        application("management.endpoint.amqplocks.show-values=always")) {
      LockTemplate locks = application.bean(LockTemplate.class);
      try (Lease report = locks.mutex("report").fenced().acquire()) {
        Answer mutex = application.get("amqplocks/mutex/report");
        assertThat(mutex.status()).isEqualTo(200);
        assertThat(mutex.<String>read("$.algorithm")).isEqualTo("tokens");
        assertThat(mutex.<String>read("$.here.leases[0].fencingToken"))
            .isEqualTo(report.fencingToken().toString());
      }
      assertThat(application.get("amqplocks/semaphore/images").<Integer>read("$.broker.slots"))
          .isEqualTo(3);
      assertThat(application.get("amqplocks/semaphore/images").<Integer>read("$.configured.slots"))
          .isEqualTo(3);
      assertThat(application.get("amqplocks/mutex/images").<String>read("$.algorithm"))
          .isEqualTo("single-active-consumer");
      assertThat(application.get("amqplocks/mutex/images?algorithm=tokens").status())
          .isEqualTo(404);
    }
  }

  @Test
  void whatIsUnknownIsNotFoundAndWhatIsWrongIsExplained() {
    try (EndpointApplication application = application()) {
      for (String path :
          List.of(
              "amqplocks/semaphore/nobody's",
              "amqplocks/mutex/nobody's",
              "amqplocks/mutex/nobody's?algorithm=persistent")) {
        Answer unknown = application.get(path);
        assertThat(unknown.status()).as(path).isEqualTo(404);
        assertThat(unknown.<String>read("$.error")).contains("nobody's");
      }
      Answer wrong = application.get("amqplocks/images/images");
      assertThat(wrong.status()).isEqualTo(400);
      assertThat(wrong.<String>read("$.error")).contains("'images'", "semaphore", "mutex");
    }
  }

  @Test
  void aLockThatOnlyTheBrokerKnows() {
    onBroker.administer(
        admin -> {
          admin.slotSemaphore("stranger's").create(4);
          return 0;
        });
    try (EndpointApplication application = application()) {
      Answer answer = application.get("amqplocks/semaphore/stranger's?algorithm=slots");
      assertThat(answer.<Integer>read("$.broker.free")).isEqualTo(4);
    }
  }

  @Test
  void namesOfAllSorts() {
    try (EndpointApplication application = application(OPENED)) {
      LockTemplate locks = application.bean(LockTemplate.class);
      for (String name :
          List.of(
              "with space",
              "a/b/c",
              "100%",
              "ümläut ✓",
              "a+b&c=d?e#f",
              "semi;colon",
              "images:42",
              "[brackets] {braces} \"quotes\" 'single'",
              "dots.and.dots..",
              "a|b^c`d~e@f,g$h*i(j)k!")) {
        String path = "amqplocks/mutex/" + EndpointApplication.inPath(name);
        assertThat(application.get(path).status()).as(name).isEqualTo(404);
        try (Lease lease = locks.mutex(name).acquire()) {
          Answer answer = application.get(path);
          assertThat(answer.status()).as(answer.text()).isEqualTo(200);
          assertThat(answer.<String>read("$.name")).isEqualTo(name);
          assertThat(answer.<Integer>read("$.here.held")).as(name).isEqualTo(1);
          assertThat(application.delete(path).status()).as(name).isEqualTo(200);
          assertThat(lease.state()).as(name).isEqualTo(LeaseState.LOST);
        }
      }
    }
  }

  @Test
  void nothingCanBeChangedUnlessItIsOpenedUp() {
    try (EndpointApplication application = application()) {
      Lease lease = application.bean(LockTemplate.class).semaphore("images").acquire();
      assertThat(application.post("amqplocks/semaphore/images", "{\"slots\":7}").status())
          .isEqualTo(405);
      assertThat(application.delete("amqplocks/semaphore/images").status()).isEqualTo(405);
      assertThat(application.get("amqplocks/semaphore/images").<Integer>read("$.broker.slots"))
          .isEqualTo(3);
      assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
    }
  }
}
