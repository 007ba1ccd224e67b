package io.amqplocks.internal.mutex;

import com.rabbitmq.client.AMQP.Queue.DeclareOk;
import io.amqplocks.admin.MutexAdmin;
import io.amqplocks.internal.broker.Answer;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.QueueArguments;
import io.amqplocks.internal.broker.Ticker;
import io.amqplocks.internal.session.Sessions;
import io.amqplocks.lock.LockId;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Inspects one mutex. Somebody holds it while its queue has a consumer: the first one is the active
 * one.
 *
 * @param lock the mutex
 * @param queue its queue
 * @param sessions the sessions to ask the broker by
 * @param callTimeout the bound on each call
 * @param ticker the time
 */
public record MutexAdministration(
    LockId lock, String queue, Sessions sessions, Duration callTimeout, Ticker ticker)
    implements MutexAdmin {

  @Override
  public boolean isHeld() {
    Call call = Call.on(lock, callTimeout, ticker);
    String step = "look for queue " + queue;
    AtomicInteger consumers = new AtomicInteger();
    Answer answer =
        sessions
            .current(call)
            .rpc()
            .askUnlessOverdue(
                call,
                step,
                QueueArguments.passive(queue),
                queue,
                (channel, reply) ->
                    consumers.set(((DeclareOk) reply.getMethod()).getConsumerCount()));
    if (answer == Answer.TIMED_OUT) {
      throw call.unanswered(step);
    }
    return answer == Answer.LOCKED || consumers.get() > 0;
  }
}
