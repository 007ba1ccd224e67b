package io.amqplocks.lock;

/**
 * Names the queue that keeps a token semaphore's tokens, for sharing it with clients that are not of
 * this library. Such a semaphore follows the plain protocol of seed 000: one durable queue declared
 * without arguments, any message in it is a token, and whoever may publish to it may raise the limit.
 * It is on a classic queue, has no fencing tokens, and its tokens have no slot numbers but those that we
 * published.
 *
 * <p>The queue has one name for ever. So whoever took a token from it by {@code basic.get} and finds a
 * queue of that name when it verifies takes the token for its own: after {@link
 * TokenSemaphoreAdmin#destroy} wait for half a heartbeat, or for as long as anybody may hold, before it is
 * created again, or old holders and new ones are more than the slots.
 */
@FunctionalInterface
public interface TokenNaming {

  /** The queue of tokens. */
  String tokens(LockName semaphore);

  /** As the RabbitMQ blog and rabbit-semaphore have it: {@code NAME.semaphore}. */
  static TokenNaming blog() {
    return semaphore -> semaphore + ".semaphore";
  }
}
