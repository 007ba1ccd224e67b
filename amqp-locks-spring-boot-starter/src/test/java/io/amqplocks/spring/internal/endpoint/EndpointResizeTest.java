package io.amqplocks.spring.internal.endpoint;

import static io.amqplocks.spring.internal.endpoint.EndpointApplication.OPENED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.admin.TokenSemaphoreAdmin;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.internal.endpoint.EndpointApplication.Answer;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a POST with a number of slots does. */
@BrokerTest(everyLine = true)
class EndpointResizeTest {

  private static final Duration LONG = Duration.ofSeconds(30);

  @AutoClose private final LocksOnBroker onBroker;

  EndpointResizeTest(Broker broker) {
    onBroker = new LocksOnBroker(broker);
  }

  private EndpointApplication application(String... properties) {
    return new EndpointApplication(
        onBroker,
        Stream.concat(
                Stream.of(
                    OPENED,
                    "amqp-locks.semaphores.images.slots=3",
                    "amqp-locks.semaphores.videos.slots=2",
                    "amqp-locks.semaphores.videos.algorithm=slots",
                    "amqp-locks.mutexes.report.algorithm=tokens"),
                Stream.of(properties))
            .toArray(String[]::new));
  }

  @ParameterizedTest
  @ValueSource(strings = {"images", "videos"})
  void resize(String name) {
    try (EndpointApplication application = application()) {
      String path = "amqplocks/semaphore/" + name;
      int before = application.get(path).read("$.broker.slots");
      Answer grown = application.post(path, "{\"slots\":7}");
      assertThat(grown.status()).as(grown.text()).isEqualTo(200);
      assertThat(grown.<String>read("$.done"))
          .isEqualTo("resized from %d to 7 slots".formatted(before));
      assertThat(grown.<Integer>read("$.lock.broker.slots")).isEqualTo(7);
      // What an administrator gives back, a queue has a moment later.
      await().atMost(LONG).until(() -> application.get(path).<Integer>read("$.broker.free") == 7);
      assertThat(grown.<String>read("$.lock.note"))
          .isEqualTo(
              "The application configures %d slots; the 7 at the broker count.".formatted(before));
      Lease lease = application.bean(LockTemplate.class).semaphore(name).acquire();
      Answer shrunk = application.post(path, "{\"slots\":1}");
      assertThat(shrunk.<String>read("$.done")).isEqualTo("resized from 7 to 1 slots");
      lease.close();
      await().atMost(LONG).until(() -> application.get(path).<Integer>read("$.broker.free") == 1);
    }
  }

  @Test
  void aResizeThatTheNextStartUndoesIsCalledSo() {
    try (EndpointApplication application =
        application(
            "amqp-locks.semaphores.images.on-mismatch=resize",
            "amqp-locks.semaphores.videos.on-mismatch=fail")) {
      Answer images = application.post("amqplocks/semaphore/images", "{\"slots\":7}");
      assertThat(images.<String>read("$.next"))
          .isEqualTo("The next start of an application sets it back to 3 (on-mismatch=resize).");
      assertThat(images.<String>read("$.lock.note")).endsWith(images.<String>read("$.next"));
      Answer videos = application.post("amqplocks/semaphore/videos", "{\"slots\":7}");
      assertThat(videos.<String>read("$.next"))
          .isEqualTo(
              "No application starts that configures 2, until it says 7 (on-mismatch=fail).");
      assertThat(videos.<String>read("$.lock.note")).endsWith(videos.<String>read("$.next"));
      Answer back = application.post("amqplocks/semaphore/images", "{\"slots\":3}");
      assertThat(back.json().<Object>read("$.lock").toString()).doesNotContain("note");
    }
  }

  /** A key's semaphore is settled at its first use in each process, and not at a start. */
  @Test
  void aResizeOfAKeyIsUndoneByItsFirstUseElsewhere() {
    try (EndpointApplication application =
        application(
            "amqp-locks.semaphores.images.on-mismatch=resize",
            "amqp-locks.semaphores.videos.on-mismatch=fail")) {
      LockTemplate locks = application.bean(LockTemplate.class);
      locks.semaphore("images:a").acquire().close();
      locks.semaphore("videos:a").acquire().close();
      Answer images = application.post("amqplocks/semaphore/images:a", "{\"slots\":7}");
      assertThat(images.<String>read("$.next"))
          .isEqualTo(
              "The next process that uses this key for the first time sets it back to 3"
                  + " (on-mismatch=resize).");
      assertThat(images.<String>read("$.lock.note")).endsWith(images.<String>read("$.next"));
      Answer videos = application.post("amqplocks/semaphore/videos:a", "{\"slots\":7}");
      assertThat(videos.<String>read("$.next"))
          .isEqualTo(
              "No process that configures 2 can begin to use this key, until it says 7"
                  + " (on-mismatch=fail).");
      // It is as the words say: another start leaves it, and the first use does not.
      try (EndpointApplication other =
          application("amqp-locks.semaphores.images.on-mismatch=resize")) {
        String path = "amqplocks/semaphore/images:a";
        assertThat(other.get(path).<Integer>read("$.broker.slots")).isEqualTo(7);
        other.bean(LockTemplate.class).semaphore("images:a").acquire().close();
        assertThat(other.get(path).<Integer>read("$.broker.slots")).isEqualTo(3);
      }
    }
  }

  @Test
  void theSemaphoreOfAKeyThatIsGoneIsCreatedByItsNextUse() {
    try (EndpointApplication application = application()) {
      LockTemplate locks = application.bean(LockTemplate.class);
      locks.semaphore("images:a").acquire().close();
      destroy("images:a");
      Lease holder = locks.semaphore("images:b").acquire();
      Answer gone = application.get("amqplocks/semaphore/images:a");
      assertThat(gone.status()).as(gone.text()).isEqualTo(404);
      destroy("images:b");
      Answer held = application.get("amqplocks/semaphore/images:b");
      assertThat(held.<String>read("$.note"))
          .isEqualTo("It does not exist at the broker. Its next use creates it.");
      holder.close();
      locks.semaphore("images:b").acquire().close();
      assertThat(application.get("amqplocks/semaphore/images:b").<Integer>read("$.broker.slots"))
          .isEqualTo(3);
    }
  }

  private void destroy(String name) {
    try (AmqpLocks stranger = onBroker.stranger()) {
      stranger.admin().tokenSemaphore(name).destroy();
    }
  }

  /** The number is changed, although nobody can say what became of the tokens in use. */
  @Test
  void aResizeIsDoneEvenIfTheStatusCannotBeReadAfterIt() {
    try (AmqpLocks locks = onBroker.stranger()) {
      locks.admin().tokenSemaphore("images").create(3, TokenQueueType.QUORUM);
      LockId id = LockId.tokenSemaphore("images");
      TokenSemaphoreAdmin admin = withoutStatus(locks.admin().tokenSemaphore("images"));
      OperatedLock.Done done = new OperatedTokens(locks, id, admin).resize(5);
      assertThat(done.done()).isEqualTo("resized from 3 to 5 slots");
      assertThat(done.next()).contains("is not known", "the broker did not answer");
      assertThat(locks.admin().tokenSemaphore("images").count()).isEqualTo(5);
    }
  }

  /** The administrator of a broker that stops answering right after a change. */
  private static TokenSemaphoreAdmin withoutStatus(TokenSemaphoreAdmin admin) {
    return (TokenSemaphoreAdmin)
        Proxy.newProxyInstance(
            TokenSemaphoreAdmin.class.getClassLoader(),
            new Class<?>[] {TokenSemaphoreAdmin.class},
            (proxy, method, arguments) -> {
              if (method.getName().equals("status")) {
                throw new LockException.Unanswered("the broker did not answer");
              }
              return method.invoke(admin, arguments);
            });
  }

  @Test
  void whatMakesNoSenseIsRefused() {
    try (EndpointApplication application = application()) {
      for (String body :
          List.of(
              "{}",
              "{\"slots\":0}",
              "{\"slots\":10001}",
              "{\"slots\":\"many\"}",
              "{\"enabled\":true}",
              "{\"slots\":3,\"enabled\":true}")) {
        Answer answer = application.post("amqplocks/semaphore/images", body);
        assertThat(answer.status()).as(body + answer.text()).isEqualTo(400);
      }
      assertThat(application.get("amqplocks/semaphore/images").<Integer>read("$.broker.slots"))
          .isEqualTo(3);
      assertThat(application.post("amqplocks/mutex/report", "{\"slots\":2}").status())
          .isEqualTo(400);
      Answer none = application.post("amqplocks/semaphore/none", "{\"slots\":2}");
      assertThat(none.status()).isEqualTo(404);
    }
  }

  /** Slots can be added to a slot semaphore that has none, which would create it. */
  @Test
  void whatNobodyKnowsIsNotCreated() {
    try (EndpointApplication application = application()) {
      Answer none = application.post("amqplocks/semaphore/none?algorithm=slots", "{\"slots\":2}");
      assertThat(none.status()).as(none.text()).isEqualTo(404);
      AmqpLocks locks = application.bean(AmqpLocks.class);
      assertThat(locks.admin().slotSemaphore("none").count()).isZero();
    }
  }
}
