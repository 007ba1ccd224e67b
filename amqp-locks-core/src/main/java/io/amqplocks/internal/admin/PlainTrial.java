package io.amqplocks.internal.admin;

import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.CounterKeeper;
import io.amqplocks.internal.session.TokenKeeper;
import io.amqplocks.lock.LockException;
import java.util.List;
import java.util.function.Supplier;

/**
 * Tries out which type a queue is of that is declared without arguments. From 4.0 on a virtual host may
 * make it a quorum queue, which drops a token at its 21st return.
 */
final class PlainTrial {

  private PlainTrial() {}

  /** Makes that queue, reads its message twice, and deletes it. */
  static void run(Supplier<Call> calls, TokenKeeper keeper, String queue) {
    CounterKeeper counters = keeper.counters(calls.get());
    keeper.declarePlainTokens(calls.get(), queue);
    try {
      keeper.publish(calls.get(), queue, List.of("trial"));
      long first = counters.read(calls.get(), queue).returns();
      Call call = calls.get();
      if (counters.read(call, queue).returns() > first) {
        throw new LockException.Unexpected(
            "The %s follows the plain protocol, which needs classic queues, and this virtual host makes"
                    .formatted(call.lock())
                + " quorum queues of those that are declared without arguments; set its default queue"
                + " type to classic, or use another virtual host",
            null);
      }
    } finally {
      keeper.delete(calls.get(), queue);
    }
  }
}
