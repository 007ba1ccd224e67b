package io.amqplocks.benchmarks;

import com.rabbitmq.client.AMQP.Queue.Declare;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Command;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.Method;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.IntFunction;

/**
 * Many exclusive queues of one bare connection, asked about as fast as its channels allow: each has
 * one question under way all the time.
 */
final class OwnQueues {

  private static final int CHANNELS = 64;

  private final String prefix;
  private final int queues;
  private final List<Channel> channels = new ArrayList<>();

  OwnQueues(Lab lab, int queues) throws Exception {
    this.queues = queues;
    prefix = lab.prefix() + "floor.own.";
    Connection connection = lab.connection();
    for (int i = 0; i < CHANNELS; i++) {
      channels.add(connection.createChannel());
    }
    ask(
        queues,
        i ->
            new Declare.Builder()
                .queue(prefix + i)
                .exclusive()
                .arguments(Lab.keepsNothing())
                .build());
  }

  /** Asks so many times whether one of them is there; how long all that took, in nanoseconds. */
  long verify(int times) throws Exception {
    long start = System.nanoTime();
    ask(times, i -> new Declare.Builder().queue(prefix + i % queues).passive().build());
    return System.nanoTime() - start;
  }

  private void ask(int times, IntFunction<Method> question) throws Exception {
    List<CompletableFuture<Command>> open = new ArrayList<>();
    for (int i = 0; i < times; i++) {
      if (i >= CHANNELS) {
        open.get(i % CHANNELS).get();
      }
      CompletableFuture<Command> answer =
          channels.get(i % CHANNELS).asyncCompletableRpc(question.apply(i));
      if (i < CHANNELS) {
        open.add(answer);
      } else {
        open.set(i % CHANNELS, answer);
      }
    }
    for (CompletableFuture<Command> each : open) {
      each.get();
    }
  }
}
