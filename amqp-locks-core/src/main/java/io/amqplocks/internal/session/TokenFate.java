package io.amqplocks.internal.session;

import io.amqplocks.internal.session.Rpc.LateAnswer;
import io.amqplocks.internal.topology.QueueArguments;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LossReason;
import io.amqplocks.lock.LossReason.Cause;
import java.time.Duration;
import java.util.concurrent.Executor;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Why the broker ended the consumer of a token: it does when the queue goes, and from 4.3 on when a token
 * is held for too long. It does not say which, so whether the queue is there tells.
 *
 * @param background where that is asked
 */
record TokenFate(QuestionChannels questions, Executor background) {

  private static final Logger log = LoggerFactory.getLogger(TokenFate.class);

  /** A quorum queue that is deleted ends its consumers first, and is still found for a moment. */
  private static final int LOOKS = 6;

  private static final long PAUSE_NANOS = 20_000_000;

  /** The holder must not wait for the reason: whoever has the token now, does not. */
  private static final Duration LONGEST = Duration.ofMillis(500);

  void tellLater(LockId lock, HeldToken ended) {
    background.execute(() -> ended.gone(of(lock, ended)));
  }

  private LossReason of(LockId lock, HeldToken ended) {
    try {
      if (ended.isHere() && outlived(lock, ended.queue())) {
        return new LossReason(
            Cause.HELD_TOO_LONG,
            "RabbitMQ took a token of queue %s back that was held for longer than consumer_timeout"
                .formatted(ended.queue()));
      }
    } catch (LockException e) {
      log.debug("Why a consumer of queue {} ended cannot be told", ended.queue(), e);
    }
    return new LossReason(
        Cause.REVOKED, "queue " + ended.queue() + " was deleted, or its node went down");
  }

  private boolean outlived(LockId lock, String queue) {
    Call call = Call.on(lock, LONGEST, questions::nanos);
    for (int i = 0; i < LOOKS; i++) {
      if (i > 0) {
        Futures.pause(PAUSE_NANOS);
      }
      if (!exists(call, queue)) {
        return false;
      }
    }
    return true;
  }

  /** Whether the queue is there, asked on the side; as good as any other sign of life. */
  boolean exists(Call call, String queue) {
    String step = "look for token queue " + queue;
    Answer answer = questions.ask(call, step, QueueArguments.passive(queue), LateAnswer.IGNORED);
    if (answer == Answer.NONE) {
      throw call.unanswered(step);
    }
    return answer != Answer.ABSENT;
  }
}
