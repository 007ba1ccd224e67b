package io.amqplocks.lock;

import io.amqplocks.admin.TokenSemaphoreAdmin;

/**
 * Names the queue of a token semaphore, to share it with other clients than this library. Such a
 * semaphore follows the plain protocol of the blog post: it is one durable queue that was declared
 * without arguments, and any message in it is a token. Anybody who may publish to it may raise the
 * limit. The queue is a classic one, so there are no fencing tokens. Only tokens that this library
 * published have slot numbers.
 *
 * <p>The queue keeps its name forever. A holder that acquired a token by {@code basic.get}, and
 * finds a queue of that name when it verifies, considers itself the holder of a token of it. After
 * {@link TokenSemaphoreAdmin#destroy}, therefore wait for half a heartbeat, or for as long as
 * anybody may hold, before you create it again. Otherwise there may be more old and new holders
 * than slots.
 */
@FunctionalInterface
public interface TokenNaming {

  /** The queue of the semaphore's tokens. */
  String tokens(LockName semaphore);

  /** The name that the blog post and rabbit-semaphore use: {@code NAME.semaphore}. */
  static TokenNaming blog() {
    return semaphore -> semaphore + ".semaphore";
  }
}
