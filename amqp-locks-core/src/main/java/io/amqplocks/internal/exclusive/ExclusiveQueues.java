package io.amqplocks.internal.exclusive;

import com.rabbitmq.client.AMQP.Queue.Delete;
import io.amqplocks.internal.broker.Answer;
import io.amqplocks.internal.broker.BrokerErrors;
import io.amqplocks.internal.broker.BrokerProfile;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.Futures;
import io.amqplocks.internal.broker.RpcChannelPool;
import io.amqplocks.internal.session.PerSession;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.LockException;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The exclusive queues of one session. To own the queue is to hold the lock.
 *
 * <p>Concurrency: an exclusive queue belongs to the connection. So the broker tells processes apart
 * but not threads: it accepts a second thread's declare of the queue (trap 1). Hence a thread first
 * claims the name in this process, by one atomic step, and only the claimant may declare. A claim
 * does not end before the broker has said that the queue is not ours. If a reply is overdue, the
 * claim stays until the reply arrives. So at any time at most one thread declares, owns or deletes
 * a queue.
 */
public final class ExclusiveQueues {

  private static final Logger log = LoggerFactory.getLogger(ExclusiveQueues.class);

  private static final PerSession<ExclusiveQueues> SESSIONS =
      new PerSession<>(
          session ->
              new ExclusiveQueues(
                  session.rpc(), session.broker(), session.callTimeout(), session.background()));

  private final RpcChannelPool holder;
  private final BrokerProfile broker;
  private final Duration callTimeout;
  private final Executor later;

  /**
   * The queues that a thread of this session has, or asks for. The value is complete when the
   * broker has replied, or when there will be no reply.
   */
  private final Map<String, CompletableFuture<Answer>> claimed = new ConcurrentHashMap<>();

  /** The exclusive queues of that session. */
  public static ExclusiveQueues of(Session session) {
    return SESSIONS.of(session);
  }

  ExclusiveQueues(
      RpcChannelPool holder, BrokerProfile broker, Duration callTimeout, Executor background) {
    this.holder = holder;
    this.broker = broker;
    // A repeated request waits this long, so that the broker has time to recover.
    later =
        CompletableFuture.delayedExecutor(
            callTimeout.toMillis(), TimeUnit.MILLISECONDS, background);
    this.callTimeout = callTimeout;
  }

  /**
   * Declares the queue as this session's own.
   *
   * @return false if another thread or another connection has it
   * @throws LockException.Unanswered if the broker did not reply in time; the queue is deleted as
   *     soon as it does
   */
  public boolean take(Call call, String queue) {
    CompletableFuture<Answer> reply = new CompletableFuture<>();
    if (claimed.putIfAbsent(queue, reply) != null) {
      return false;
    }
    Answer answer = Answer.ABSENT;
    try {
      answer =
          holder.ask(
              call,
              "declare queue " + queue,
              broker.exclusive(queue),
              late -> undo(call, queue, late));
      if (answer == Answer.TIMED_OUT) {
        throw call.unanswered("declare queue " + queue);
      }
      reply.complete(answer);
      return answer == Answer.OK;
    } catch (LockException.Unreachable e) {
      if (!BrokerErrors.isAnothers(queue, e)) {
        throw e;
      }
      return false;
    } finally {
      if (answer != Answer.TIMED_OUT && answer != Answer.OK) {
        claimed.remove(queue);
      }
      // After a failure there will be none.
      reply.complete(Answer.TIMED_OUT);
    }
  }

  /** A late reply to a declare that nobody waits for any more. */
  private void undo(Call call, String queue, Answer late) {
    if (late != Answer.OK) {
      claimed.remove(queue);
      return;
    }
    log.info("{}: declare of {} was answered too late; deleting it", call.lock(), queue);
    release(Call.on(call.lock(), callTimeout, call.ticker()), queue);
  }

  /**
   * Returns if no thread of this session asks for the queue, and otherwise as soon as the broker
   * has replied to that thread. A queue that is asked for is not known to be somebody's.
   *
   * @throws LockException.Unanswered if the broker did not reply in time
   */
  public void requireReply(Call call, String queue) {
    CompletableFuture<Answer> reply = claimed.get(queue);
    if (reply == null) {
      return;
    }
    Answer answer = Answer.TIMED_OUT;
    try {
      answer = Futures.await(reply, call.remainingNanos());
    } catch (TimeoutException | ExecutionException e) {
      log.debug("{}: another thread has no reply about {} either", call.lock(), queue);
    }
    if (answer == Answer.TIMED_OUT) {
      throw call.unanswered("declare queue " + queue);
    }
  }

  /**
   * Deletes the queue, if it is this session's own. Never throws. If the broker does not even
   * accept the request, it is repeated in the background as long as the session lasts.
   *
   * @return whether the broker confirmed that the queue is gone, or is not ours any more
   */
  public boolean release(Call call, String queue) {
    String step = "delete queue " + queue;
    try {
      Answer answer =
          holder.ask(
              call, step, new Delete.Builder().queue(queue).build(), late -> claimed.remove(queue));
      if (answer != Answer.TIMED_OUT) {
        claimed.remove(queue);
        return true;
      }
      log.warn("{}: {}; it will when it can", call.lock(), call.unanswered(step).getMessage());
    } catch (LockException.Unreachable e) {
      log.debug("{}: released with its connection: {}", call.lock(), e.getMessage());
    } catch (LockException.Refused e) {
      // A repetition would not help: the queue stays until the session ends, and so does the claim.
      log.error("{}: not released: {}", call.lock(), e.getMessage());
    } catch (LockException e) {
      log.warn("{}: not released yet: {}", call.lock(), e.getMessage());
      later.execute(() -> release(Call.on(call.lock(), callTimeout, call.ticker()), queue));
    }
    return false;
  }

  /**
   * Whether the queue is this session's own. Only the owner's passive declare is confirmed.
   *
   * @throws LockException.Unanswered if the broker did not reply in time
   */
  public boolean owns(Call call, String queue) {
    return holder.lookUnlessOverdue(call, queue).answer() == Answer.OK;
  }
}
