package io.amqplocks.internal.session;

import com.rabbitmq.client.AMQP.Queue.Delete;
import io.amqplocks.internal.topology.QueueArguments;
import io.amqplocks.lock.LockException;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The exclusive queues of one session: to own the queue is to hold the lock.
 *
 * <p>Concurrency: an exclusive queue belongs to the connection, so the broker tells processes apart
 * but not threads: it says yes to the second thread that declares the queue (trap 1). Hence a thread
 * first claims the name in this process, by one atomic step, and only who claims may declare. A claim
 * ends no sooner than the broker said that the queue is not ours: where an answer is overdue, the
 * claim stays until it came. So at any time at most one thread declares, owns or deletes a queue.
 */
public final class HolderQueues {

  private static final Logger log = LoggerFactory.getLogger(HolderQueues.class);

  private final QuestionChannels holder;
  private final Duration callTimeout;
  private final Executor later;
  private final Set<String> claimed = ConcurrentHashMap.newKeySet();

  HolderQueues(QuestionChannels holder, Duration callTimeout, Executor background) {
    this.holder = holder;
    // No sooner than the broker had its time to come round.
    later =
        CompletableFuture.delayedExecutor(
            callTimeout.toMillis(), TimeUnit.MILLISECONDS, background);
    this.callTimeout = callTimeout;
  }

  /**
   * Declares the queue as this session's own.
   *
   * @return whether it is now: false if another thread or another connection has it
   * @throws LockException.Unanswered if the broker did not say in time; the queue is then deleted as
   *     soon as it does
   */
  public boolean take(Call call, String queue) {
    if (!claimed.add(queue)) {
      return false;
    }
    boolean settled = true;
    boolean taken = false;
    try {
      Answer answer =
          holder.ask(
              call,
              "declare queue " + queue,
              QueueArguments.exclusive(queue),
              late -> undo(call, queue, late));
      settled = answer != Answer.NONE;
      taken = answer == Answer.OK;
      if (answer == Answer.NONE) {
        throw call.unanswered("declare queue " + queue);
      }
      return taken;
    } finally {
      if (settled && !taken) {
        claimed.remove(queue);
      }
    }
  }

  /** The declare that nobody waits for any more was answered after all. */
  private void undo(Call call, String queue, Answer late) {
    if (late != Answer.OK) {
      claimed.remove(queue);
      return;
    }
    log.info("{}: declare of {} was answered too late; deleting it", call.lock(), queue);
    release(Call.on(call.lock(), callTimeout, call.ticker()), queue);
  }

  /**
   * Deletes the queue, if it is this session's own. Never throws. If the broker does not even take the
   * request, it is asked again and again in the background, for as long as the session lasts.
   *
   * @return whether the broker confirmed that it is gone, or is not ours any more
   */
  public boolean release(Call call, String queue) {
    String step = "delete queue " + queue;
    try {
      Answer answer =
          holder.ask(
              call, step, new Delete.Builder().queue(queue).build(), late -> claimed.remove(queue));
      if (answer != Answer.NONE) {
        claimed.remove(queue);
        return true;
      }
      log.warn("{}: {}; it will when it can", call.lock(), call.unanswered(step).getMessage());
    } catch (LockException.Unreachable e) {
      log.debug("{}: released with its connection: {}", call.lock(), e.getMessage());
    } catch (LockException.Refused e) {
      // Asking again would not help: the queue stays until the session ends, and so does the claim.
      log.error("{}: not released: {}", call.lock(), e.getMessage());
    } catch (LockException e) {
      log.warn("{}: not released yet: {}", call.lock(), e.getMessage());
      later.execute(() -> release(Call.on(call.lock(), callTimeout, call.ticker()), queue));
    }
    return false;
  }

  /** Whether the queue is this session's own: only the owner's passive declare is answered OK. */
  public Answer owns(Call call, String queue) {
    return holder.askUnlessOverdue(
        call, "verify queue " + queue, QueueArguments.passive(queue), queue);
  }
}
