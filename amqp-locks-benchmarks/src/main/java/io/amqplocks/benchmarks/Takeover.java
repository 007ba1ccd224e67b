package io.amqplocks.benchmarks;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import io.amqplocks.AmqpLocks;
import io.amqplocks.consumer.SoleConsumer;
import io.amqplocks.consumer.SoleConsumerBuilder;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;

/**
 * From the polite stop of a sole consumer to the first message that the next one handles, which
 * stands by. The message is published meanwhile. Its floor is from the cancel and requeue by one
 * bare client to the delivery to another one that stands by, on a queue with a single active
 * consumer. All of its steps are one after the other, each with an answer: the first cancels its
 * consumer and closes its channel, the mutex goes to the second, and that consumes.
 *
 * @param connected whether it has its connection while it stands by
 */
record Takeover(boolean connected) implements CorePath {

  private static final Duration PATIENCE = Duration.ofSeconds(30);

  @Override
  public String name() {
    return connected ? "takeover, connected sole consumer" : "takeover, sole consumer";
  }

  @Override
  public Goal goal() {
    return Goal.atMostTimes(2);
  }

  @Override
  public String floor() {
    return "cancel + requeue to delivery";
  }

  @Override
  public Sides open(Lab lab) throws Exception {
    Channel channel = lab.channel();
    String queue = lab.leaving(lab.prefix() + "sole");
    channel.queueDeclare(queue, true, false, false, Map.of());
    Pair pair =
        new Pair(
            connected, lab, channel, queue, lab.locks(), lab.locks(), new LinkedBlockingQueue<>());
    Channel bare = lab.channel();
    String single = ActiveConsumerLoop.declare(lab, bare, "taken");
    ActiveConsumerLoop held = new ActiveConsumerLoop(bare, single);
    ActiveConsumerLoop wanted = new ActiveConsumerLoop(lab.channel(), single);
    return new Sides(
        pair::takeover,
        () -> MutexHandOver.handOver(held, wanted),
        new Steps(connected, lab, lab.connection(), channel, queue, held, wanted)::takeover);
  }

  /** All of the protocol's steps by bare clients: two that consume, and two that want the mutex. */
  private record Steps(
      boolean connected,
      Lab lab,
      Connection active,
      Channel publisher,
      String queue,
      ActiveConsumerLoop held,
      ActiveConsumerLoop wanted) {

    long takeover() throws Exception {
      BlockingQueue<Long> handled = new LinkedBlockingQueue<>();
      String holder = held.consume();
      long message = held.receive();
      Channel first = active.createChannel();
      String tag = consume(first, handled);
      String waiter = wanted.consume();
      Connection ahead = connected ? connect() : null;
      HandOver.letWait();
      long start = System.nanoTime();
      first.basicCancel(tag);
      publisher.basicPublish("", queue, null, new byte[0]);
      first.close();
      held.release(holder, message);
      long next = wanted.receive();
      try (Connection second = ahead == null ? connect() : ahead) {
        String unused = consume(second.createChannel(), handled);
        Long when = handled.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
        wanted.release(waiter, next);
        if (when == null) {
          throw new IllegalStateException("Nobody received the message");
        }
        return when - start;
      }
    }

    private Connection connect() throws Exception {
      return lab.factory().newConnection("bench floor");
    }

    private String consume(Channel channel, BlockingQueue<Long> handled) throws Exception {
      return channel.basicConsume(
          queue,
          true,
          "",
          false,
          true,
          Map.of(),
          (tag, message) -> handled.add(System.nanoTime()),
          tag -> {});
    }
  }

  private record Pair(
      boolean connected,
      Lab lab,
      Channel channel,
      String queue,
      AmqpLocks active,
      AmqpLocks standingBy,
      BlockingQueue<Long> handled) {

    private SoleConsumer consumer(AmqpLocks locks) {
      SoleConsumerBuilder settings =
          SoleConsumer.of(
              locks.mutex("sole"),
              lab.factory(),
              queue,
              delivery -> handled.add(System.nanoTime()));
      return (connected ? settings.standByConnected() : settings).build();
    }

    long takeover() throws Exception {
      try (SoleConsumer first = consumer(active);
          SoleConsumer second = consumer(standingBy)) {
        first.start();
        // It consumes by then.
        long unused = publish();
        second.start();
        while (standingBy.status().waiting() == 0) {
          Thread.onSpinWait();
        }
        HandOver.letWait();
        long start = System.nanoTime();
        if (!first.handOver()) {
          throw new IllegalStateException("The first consumer is not active");
        }
        return publish() - start;
      }
    }

    /** Returns when the message was handled. */
    private long publish() throws Exception {
      channel.basicPublish("", queue, null, new byte[0]);
      Long when = handled.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      if (when == null) {
        throw new IllegalStateException("Nobody handled the message");
      }
      return when;
    }
  }
}
