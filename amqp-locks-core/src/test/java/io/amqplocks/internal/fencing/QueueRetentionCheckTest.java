package io.amqplocks.internal.fencing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.MessageReading;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.Test;

class QueueRetentionCheckTest {

  private final AtomicLong now = new AtomicLong();
  private final List<String> queues = new ArrayList<>();

  /** A broker that declares a queue, and replies to that when nobody waits for it any more. */
  private final CounterBroker late =
      new CounterBroker() {
        @Override
        public int brokerMajor() {
          return 4;
        }

        @Override
        public boolean exists(Call call, String queue) {
          return queues.contains(queue);
        }

        @Override
        public void declareEpoch(Call call, String queue) {
          throw new UnsupportedOperationException();
        }

        @Override
        public void delete(Call call, String queue) {
          if (call.remainingNanos() == 0) {
            throw call.unanswered("delete queue " + queue);
          }
          queues.remove(queue);
        }

        @Override
        public void make(Call call, String queue, String content) {
          queues.add(queue);
          now.addAndGet(call.remainingNanos());
          throw call.unanswered("declare queue " + queue);
        }

        @Override
        public MessageReading read(Call call, String queue) {
          throw new UnsupportedOperationException();
        }
      };

  /** All steps of a first fenced acquire are within its one call. */
  @Test
  void leavesTimeToDeleteTheQueueWhoseDeclareTookTooLong() {
    Call call = Call.on(LockId.mutex("l"), Duration.ofSeconds(5), now::get);
    assertThatThrownBy(() -> QueueRetentionCheck.run(() -> call, late, random -> "trial-" + random))
        .isInstanceOf(LockException.Unanswered.class)
        .hasMessageContaining("declare queue trial-");
    assertThat(queues).isEmpty();
    assertThat(call.remainingNanos()).isPositive();
  }
}
