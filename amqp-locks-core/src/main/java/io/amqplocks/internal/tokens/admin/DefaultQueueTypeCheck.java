package io.amqplocks.internal.tokens.admin;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.lock.LockException;
import java.util.List;
import java.util.function.Supplier;

/**
 * Checks the type of a queue that is declared without arguments. From 4.0 on, a virtual host may
 * make it a quorum queue, which drops a token at its 21st return.
 */
final class DefaultQueueTypeCheck {

  private DefaultQueueTypeCheck() {}

  /** Creates that queue, reads its message twice, and deletes it. */
  static void run(Supplier<Call> calls, TokenAdminConnection connection, String queue) {
    connection.declarePlainTokens(calls.get(), queue);
    try {
      connection.publish(calls.get(), queue, List.of("trial"));
      long first = connection.read(calls.get(), queue).returns();
      Call call = calls.get();
      if (connection.read(call, queue).returns() > first) {
        throw new LockException.Unexpected(
            "The %s follows the plain protocol, which needs classic queues, and this virtual host makes"
                    .formatted(call.lock())
                + " quorum queues of those that are declared without arguments; set its default queue"
                + " type to classic, or use another virtual host",
            null);
      }
    } finally {
      connection.delete(calls.get(), queue);
    }
  }
}
