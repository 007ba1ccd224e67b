package io.amqplocks.internal.mutex;

import io.amqplocks.internal.broker.Answer;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.QueueState;
import io.amqplocks.internal.broker.RpcChannelPool;
import io.amqplocks.lock.LockException;

/**
 * Queues that administrators declare and delete: those of persistent mutexes. A client that
 * acquires looks only. By a declare it could bring back a mutex that was just disabled, and it
 * would need the permission to configure. A look does not tell what kind of queue it is.
 *
 * @param rpc the channels to look by
 */
record EnabledQueues(RpcChannelPool rpc) implements QueueFinding {

  @Override
  public QueueState find(Call call, String queue) {
    QueueState state = rpc.lookUnlessOverdue(call, queue);
    if (!state.exists()) {
      missing(call);
    }
    if (state.answer() == Answer.LOCKED) {
      throw foreign(call, queue, "it is another connection's own");
    }
    return state;
  }

  @Override
  public boolean provesKind() {
    return false;
  }

  @Override
  public void missing(Call call) {
    throw new LockException.NotFound(
        "The %s is not enabled; enable it with admin().persistentMutex(\"%s\").enable()"
            .formatted(call.lock(), call.lock().name()));
  }

  /** Administrators disable and enable it again and again. */
  @Override
  public LockException deleted(Call call, String queue, int times) {
    return new LockException.NotFound(
        ("RabbitMQ ended %d consumers of queue %s of %s in a row; see who disables it, or whether its"
                // Such a queue counts messages before it has sent them.
                + " queue is no classic one; delete that, and enable the lock anew")
            .formatted(times, queue, call.lock()));
  }

  @Override
  public String remedy() {
    return "delete it, and enable the lock anew";
  }
}
