package io.amqplocks.consumer;

import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;

/**
 * Drops a connection unless this is closed in time. A call that waits there for the broker's answer
 * ends with an exception then.
 *
 * <p>A call has a timeout of its own, which is longer, and the close of the connection would take
 * as long again. What a quorum queue, or the metadata store, was asked while it had no leader may
 * be answered half a minute later. A new connection is answered as soon as there is a leader.
 *
 * <p>Concurrency: the timer and the thread that closes this complete one future. The first of them
 * decides.
 */
final class AnswerDeadline implements AutoCloseable {

  private final CompletableFuture<Boolean> answered = new CompletableFuture<>();

  AnswerDeadline(ReadyConnection connection, Duration patience) {
    CompletableFuture<Boolean> unused =
        answered
            .orTimeout(patience.toMillis(), TimeUnit.MILLISECONDS)
            .whenComplete(
                (inTime, late) -> {
                  if (late != null) {
                    drop(connection);
                  }
                });
  }

  /** On a thread of its own, since it takes a moment, which the timer does not have. */
  private static void drop(ReadyConnection connection) {
    Thread dropping = new Thread(connection::abort, "amqp-locks consumer without an answer");
    dropping.setDaemon(true);
    dropping.start();
  }

  /** Ends the deadline. Returns false if the connection was dropped before, or is about to be. */
  boolean met() {
    boolean unused = answered.complete(true);
    return !answered.isCompletedExceptionally();
  }

  @Override
  public void close() {
    boolean unused = met();
  }
}
