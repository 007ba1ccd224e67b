package io.amqplocks.internal.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class QueueRetryTest {

  private static final String NODE_IS_DOWN = "NOT_FOUND - queue 'q' in vhost '/' process is down";
  private static final String NO_QUEUE = "NOT_FOUND - no queue 'q' in vhost '/'";

  private final List<String> steps = new ArrayList<>();

  /** What the tries do, one after the other. */
  @SafeVarargs
  private String of(Supplier<@Nullable String>... tries) {
    int[] next = {0};
    return QueueRetry.of(
        Call.on(LockId.mutex("m"), Duration.ofSeconds(10), Ticker.SYSTEM),
        "q",
        () -> steps.add("forget"),
        () -> {
          steps.add("try");
          return tries[next[0]++].get();
        });
  }

  private static @Nullable String absent() {
    return null;
  }

  private static String found() {
    return "found";
  }

  private static String failed(int code, String text) {
    AMQP.Channel.Close close =
        new AMQP.Channel.Close.Builder()
            .replyCode(code)
            .replyText(text)
            .classId(0)
            .methodId(0)
            .build();
    throw new LockException.Unexpected(
        "failed: " + text, new ShutdownSignalException(false, false, close, null));
  }

  private static String unavailable() {
    return failed(AMQP.NOT_FOUND, NODE_IS_DOWN);
  }

  @Test
  void aQueueThatIsThereCostsOneTry() {
    assertThat(of(QueueRetryTest::found)).isEqualTo("found");
    assertThat(steps).containsExactly("try");
  }

  @Test
  void anExpiredQueueIsForgottenBeforeTheNextTry() {
    assertThat(of(QueueRetryTest::absent, QueueRetryTest::unavailable, QueueRetryTest::found))
        .isEqualTo("found");
    assertThat(steps).containsExactly("try", "forget", "try", "forget", "try");
  }

  @Test
  void threeTriesAreEnough() {
    assertThatThrownBy(
            () -> of(QueueRetryTest::absent, QueueRetryTest::absent, QueueRetryTest::absent))
        .isInstanceOf(LockException.Unanswered.class)
        .hasMessageContainingAll("queue q", "mutex 'm'", "deleted 3 times");
    assertThat(steps).endsWith("try", "forget").hasSize(6);
  }

  /** A queue that is being deleted has a moment before the next try. */
  @Test
  void aNodeThatStaysDownIsNamed() {
    long begin = System.nanoTime();
    assertThatThrownBy(
            () ->
                of(
                    QueueRetryTest::absent,
                    QueueRetryTest::unavailable,
                    QueueRetryTest::unavailable))
        .isInstanceOf(LockException.Unanswered.class)
        .hasMessageContainingAll("mutex 'm'", NODE_IS_DOWN)
        .hasSuppressedException(new LockException.Unexpected("failed: " + NODE_IS_DOWN, null));
    assertThat(System.nanoTime() - begin).isGreaterThanOrEqualTo(Duration.ofMillis(100).toNanos());
  }

  @Test
  void otherFailuresAreNotRepeated() {
    assertThatThrownBy(() -> of(() -> failed(AMQP.PRECONDITION_FAILED, "inequivalent arg")))
        .isInstanceOf(LockException.Unexpected.class);
    assertThatThrownBy(() -> of(() -> failed(AMQP.NOT_FOUND, NO_QUEUE)))
        .isInstanceOf(LockException.Unexpected.class);
    assertThat(steps).containsExactly("try", "try");
  }
}
