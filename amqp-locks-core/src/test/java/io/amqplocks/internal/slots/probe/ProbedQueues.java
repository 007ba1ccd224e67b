package io.amqplocks.internal.slots.probe;

import static io.amqplocks.internal.slots.probe.Presence.ABSENT;
import static io.amqplocks.internal.slots.probe.Presence.PRESENT;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import io.amqplocks.internal.broker.QueueArguments;
import io.amqplocks.test.Broker;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;

/** Queues of another connection, to be asked for; gone when closed. */
final class ProbedQueues implements AutoCloseable {

  private final String prefix;
  private final Connection others;
  private final Channel othersChannel;
  private final List<String> slots = new ArrayList<>();

  ProbedQueues(Broker broker, String prefix) throws Exception {
    this.prefix = prefix;
    others = broker.connectionFactory().newConnection("others");
    othersChannel = others.createChannel();
  }

  /** Exclusive to another connection, as a slot's B is. */
  String held(String name) throws Exception {
    othersChannel.asyncCompletableRpc(QueueArguments.exclusive(prefix + name)).get();
    return prefix + name;
  }

  /** For all to see, as a slot's A is. */
  String slot(String name) throws Exception {
    othersChannel.asyncCompletableRpc(QueueArguments.slot(prefix + name)).get();
    slots.add(prefix + name);
    return prefix + name;
  }

  List<String> slotsAndHeld(int count) throws Exception {
    List<String> present = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      present.add(i % 2 == 0 ? slot("slot-" + i) : held("held-" + i));
    }
    return present;
  }

  /** Refuses every message: what a queue may do that our own arguments keep ours from doing. */
  String nacking(String name) throws Exception {
    Map<String, Object> arguments = Map.of("x-max-length", 0, "x-overflow", "reject-publish");
    othersChannel.queueDeclare(prefix + name, false, true, false, arguments);
    return prefix + name;
  }

  List<String> mixed(Random random, List<String> present, int size) {
    List<String> queues =
        new ArrayList<>(
            IntStream.range(0, size)
                .mapToObj(
                    i -> i % 3 == 0 && i / 3 < present.size() ? present.get(i / 3) : prefix + i)
                .toList());
    Collections.shuffle(queues, random);
    return queues;
  }

  static List<Presence> expected(List<String> queues, List<String> present) {
    return queues.stream().map(queue -> present.contains(queue) ? PRESENT : ABSENT).toList();
  }

  void delete(String queue) throws Exception {
    othersChannel.queueDelete(queue);
  }

  @Override
  public void close() throws Exception {
    for (String slot : slots) {
      othersChannel.queueDelete(slot);
    }
    others.abort(1000);
  }
}
