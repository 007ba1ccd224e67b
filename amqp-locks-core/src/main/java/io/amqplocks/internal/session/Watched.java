package io.amqplocks.internal.session;

import com.rabbitmq.client.Channel;
import org.jspecify.annotations.Nullable;

/**
 * A queue that is watched.
 *
 * @param revoked is called when it goes
 * @param on the channel that has its consumer; null if none has yet
 */
record Watched(String queue, Runnable revoked, @Nullable Channel on) {

  /** Whether it has no consumer on the channel that is open. */
  boolean isAstray(@Nullable Channel open) {
    return on == null || !on.equals(open);
  }

  Watched on(Channel other) {
    return new Watched(queue, revoked, other);
  }
}
