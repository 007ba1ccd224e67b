package io.amqplocks.spring.internal.endpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

class BrokerQueriesTest {

  private static final LockId SLOTS = LockId.slotSemaphore("slots");
  private static final LockId MUTEX = LockId.mutex("mutex");
  private static final LockId TOKENS = LockId.tokenSemaphore("tokens");
  private static final Duration LONG = Duration.ofSeconds(30);

  /** Enough for a thread to begin on a busy machine. */
  private static final Duration SHORT = Duration.ofSeconds(5);

  @AutoClose("shutdownNow")
  private final ExecutorService threads = Executors.newCachedThreadPool();

  private final List<LockId> asked = new CopyOnWriteArrayList<>();

  private static BrokerDescriptor free() {
    return BrokerDescriptor.mutex(null, false);
  }

  @Test
  void answersComeInTheOrderOfTheQuestionAndSlotsAreAskedAboutLast() {
    try (BrokerQueries questions =
        new BrokerQueries(
            id -> {
              asked.add(id);
              return free();
            },
            LONG)) {
      assertThat(questions.ask(List.of(SLOTS, MUTEX, TOKENS)).keySet())
          .containsExactly(SLOTS, MUTEX, TOKENS);
      assertThat(asked).containsExactly(MUTEX, TOKENS, SLOTS);
    }
  }

  @Test
  void aBoundOfCenturiesIsAnsweredToo() {
    try (BrokerQueries questions =
        new BrokerQueries(id -> free(), Duration.ofSeconds(Long.MAX_VALUE))) {
      assertThat(questions.ask(List.of(MUTEX))).containsEntry(MUTEX, free());
    }
  }

  @Test
  void whatIsWrongWithOneLockKeepsNothingOfTheOthersBack() {
    try (BrokerQueries questions =
        new BrokerQueries(
            id -> {
              if (id.equals(MUTEX)) {
                throw new LockException.Refused("not this one", null);
              }
              return free();
            },
            LONG)) {
      Map<LockId, BrokerDescriptor> answers = questions.ask(List.of(MUTEX, TOKENS));
      assertThat(answers.get(MUTEX)).isEqualTo(BrokerDescriptor.failed("not this one"));
      assertThat(answers.get(TOKENS)).isEqualTo(free());
    }
  }

  @Test
  void aBrokerThatCannotBeReachedIsAskedOnce() {
    try (BrokerQueries questions =
        new BrokerQueries(
            id -> {
              asked.add(id);
              throw new LockException.Unreachable("no way there", null);
            },
            LONG)) {
      Map<LockId, BrokerDescriptor> answers = questions.ask(List.of(MUTEX, TOKENS));
      assertThat(answers.get(MUTEX)).isEqualTo(BrokerDescriptor.failed("no way there"));
      assertThat(answers.get(TOKENS))
          .as("not in the words of an error that names another lock")
          .isEqualTo(BrokerDescriptor.failed("Not asked: RabbitMQ cannot be reached"));
      assertThat(asked).hasSize(1);
    }
  }

  @Test
  void aQuestionThatHangsHoldsNobodyUpAndPilesNothingUp() throws Exception {
    CountDownLatch hanging = new CountDownLatch(1);
    try (BrokerQueries questions =
        new BrokerQueries(
            id -> {
              asked.add(id);
              if (id.equals(TOKENS)) {
                awaitUninterruptibly(hanging);
              }
              return free();
            },
            SHORT)) {
      for (int i = 0; i < 2; i++) {
        assertThat(questions.ask(List.of(TOKENS, SLOTS)).values())
            .containsOnly(BrokerDescriptor.failed("RabbitMQ did not answer within " + SHORT));
      }
      assertThat(error(questions)).contains("earlier requests");
      hanging.countDown();
      await().atMost(LONG).until(() -> error(questions) == null);
      assertThat(asked).as("no more was asked than anybody waited for").doesNotContain(SLOTS);
    }
  }

  @Test
  void aThirdReaderWaitsForItsTurn() {
    CountDownLatch slow = new CountDownLatch(1);
    try (BrokerQueries questions =
        new BrokerQueries(
            id -> {
              asked.add(id);
              awaitUninterruptibly(slow);
              return free();
            },
            LONG)) {
      for (int i = 0; i < 2; i++) {
        threads.execute(() -> questions.ask(List.of(MUTEX)));
      }
      await().atMost(LONG).until(() -> asked.size() == 2);
      Thread third = Thread.currentThread();
      threads.execute(
          () -> {
            await().atMost(LONG).until(() -> third.getState() == Thread.State.TIMED_WAITING);
            slow.countDown();
          });
      assertThat(error(questions)).isNull();
    }
  }

  private static @Nullable String error(BrokerQueries questions) {
    return questions.ask(List.of(MUTEX)).values().iterator().next().error();
  }

  private static void awaitUninterruptibly(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }
}
