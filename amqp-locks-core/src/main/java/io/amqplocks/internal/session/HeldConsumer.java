package io.amqplocks.internal.session;

import java.util.concurrent.CompletableFuture;

/**
 * An exclusive consumer of this session: there from the broker's consume-ok until either side cancels
 * it or its channel closes.
 *
 * <p>Concurrency: its end, if it was not ours, is one future that is completed once, by whichever thread
 * hears of it first.
 */
public final class HeldConsumer {

  private final String queue;
  private final String tag;
  private final ConsumerChannel channel;
  private final CompletableFuture<String> gone = new CompletableFuture<>();

  HeldConsumer(String queue, String tag, ConsumerChannel channel) {
    this.queue = queue;
    this.tag = tag;
    this.channel = channel;
  }

  String queue() {
    return queue;
  }

  String tag() {
    return tag;
  }

  ConsumerChannel channel() {
    return channel;
  }

  /** The broker ended it. */
  void gone(String fate) {
    gone.complete(fate);
  }

  /** The queue does not have exactly one consumer, so this one excludes nobody. */
  public void notAlone(int consumers) {
    gone("queue %s has %d consumers and not this one alone".formatted(queue, consumers));
  }

  /** Whether the broker ended it, as far as this process was told. */
  public boolean isGone() {
    return gone.isDone();
  }

  /** Calls when the broker ends it, or now if it has, on any thread; must not block. */
  public void whenGone(Runnable told) {
    var unused = gone.thenRun(told);
  }

  /** How the broker ended it, in words. */
  public String fate() {
    return gone.getNow("queue " + queue + " was deleted");
  }
}
