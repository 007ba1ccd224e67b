package io.amqplocks.benchmarks;

import com.rabbitmq.client.AMQP.BasicProperties;
import com.rabbitmq.client.Channel;
import com.rabbitmq.client.MessageProperties;
import io.amqplocks.consumer.SoleConsumer;
import io.amqplocks.consumer.SoleConsumerBuilder;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;

/**
 * From the publishing of a persistent message to its handler, which a sole consumer of a quorum
 * queue calls. Its floor is from the publishing to the delivery of such a queue to a bare client.
 *
 * @param activeQueue whether messages come through an active queue as well
 */
record DeliveryLatency(boolean activeQueue) implements CorePath {

  private static final Duration PATIENCE = Duration.ofSeconds(30);

  @Override
  public String name() {
    return activeQueue ? "delivery, active queue" : "delivery, sole consumer";
  }

  @Override
  public Goal goal() {
    return Goal.NONE;
  }

  @Override
  public String floor() {
    return "publish to delivery by a quorum queue";
  }

  @Override
  public Sides open(Lab lab) throws Exception {
    Way ours = way(lab, "sole");
    SoleConsumerBuilder settings =
        SoleConsumer.of(
            lab.locks().mutex("sole"),
            lab.factory(),
            ours.queue,
            delivery -> ours.arrived.add(System.nanoTime()));
    if (activeQueue) {
      settings.activeQueue(ours.exchange, "");
    }
    SoleConsumer consumer = settings.build();
    lab.closing(consumer);
    consumer.start();
    Way bare = way(lab, "bare");
    Channel channel = lab.channel();
    String unused =
        channel.basicConsume(
            bare.queue,
            (tag, message) -> {
              bare.arrived.add(System.nanoTime());
              channel.basicAck(message.getEnvelope().getDeliveryTag(), false);
            },
            tag -> {});
    return new Sides(ours::publish, bare::publish);
  }

  private static Way way(Lab lab, String name) throws Exception {
    Channel channel = lab.channel();
    String queue = lab.leaving(lab.prefix() + name);
    channel.queueDeclare(queue, true, false, false, Map.of("x-queue-type", "quorum"));
    String exchange = lab.prefix() + name + "-ingress";
    // Auto-delete: it goes with its queue.
    channel.exchangeDeclare(exchange, "fanout", true, true, Map.of());
    channel.queueBind(queue, exchange, "");
    return new Way(channel, exchange, queue, new LinkedBlockingQueue<>(), new AtomicLong());
  }

  private record Way(
      Channel channel,
      String exchange,
      String queue,
      BlockingQueue<Long> arrived,
      AtomicLong messages) {

    /** Returns the nanoseconds from there to the handler. */
    long publish() throws Exception {
      String id = Long.toString(messages.incrementAndGet());
      BasicProperties properties =
          MessageProperties.MINIMAL_PERSISTENT_BASIC.builder().messageId(id).build();
      long start = System.nanoTime();
      channel.basicPublish(exchange, "", properties, new byte[100]);
      Long when = arrived.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS);
      if (when == null) {
        throw new IllegalStateException("Nobody handled the message");
      }
      return when - start;
    }
  }
}
