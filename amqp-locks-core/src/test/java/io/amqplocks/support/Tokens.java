package io.amqplocks.support;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.GetResponse;
import io.amqplocks.admin.SlotChange;
import io.amqplocks.admin.TokenAudit;
import io.amqplocks.admin.TokenSemaphoreAdmin;
import io.amqplocks.admin.TokenStatus;
import io.amqplocks.internal.broker.QueueNames;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerQueue;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.assertj.core.api.Assertions;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/** What the tests of token semaphores share, most of it plain AMQP, as any client may speak it. */
public final class Tokens {

  private Tokens() {}

  /** Changes the number of slots, and says how the semaphore stands then. */
  public static TokenStatus resized(TokenSemaphoreAdmin admin, int slots) {
    SlotChange unused = admin.resize(slots);
    return admin.status();
  }

  /** Changes the number of slots; what an administrator gives back, a queue has a moment later. */
  public static void resizes(TokenSemaphoreAdmin admin, int slots, TokenStatus then) {
    SlotChange unused = admin.resize(slots);
    Awaitility.await().untilAsserted(() -> Assertions.assertThat(admin.status()).isEqualTo(then));
  }

  /** The queues of token semaphores and fenced mutexes under that prefix. */
  public static List<String> queues(Broker broker, String prefix) {
    return broker.faults().queues().stream()
        .map(BrokerQueue::name)
        .filter(name -> name.startsWith(prefix))
        .sorted()
        .toList();
  }

  /** The generation of the first token queue of that lock that there is; 0 if there is none. */
  public static int generation(Broker broker, QueueNames names, LockId lock) {
    String family = names.tokens(lock, 0).replaceFirst("0$", "");
    return queues(broker, family).stream()
        .map(queue -> queue.substring(family.length()))
        .filter(ending -> ending.matches("\\d+"))
        .mapToInt(Integer::parseInt)
        .min()
        .orElse(0);
  }

  /**
   * How many consumers the token queue of that lock has, as the broker counts: those who wait,
   * those who were served so, and on quorum queues those who hold what they got by asking.
   */
  public static int consumers(Broker broker, QueueNames names, LockId lock) throws Exception {
    String queue = names.tokens(lock, generation(broker, names, lock));
    try (Connection connection = broker.connectionFactory().newConnection("stranger")) {
      return connection.createChannel().queueDeclarePassive(queue).getConsumerCount();
    }
  }

  /** Takes messages and keeps them until the channel is closed. */
  public static List<GetResponse> take(Channel channel, String queue, int number) throws Exception {
    List<GetResponse> taken = new ArrayList<>();
    for (int i = 0; i < number; i++) {
      GetResponse got = channel.basicGet(queue, false);
      if (got != null) {
        taken.add(got);
      }
    }
    return taken;
  }

  /** Audits until all tokens are back: what was given back a moment ago may still be on its way. */
  public static TokenAudit audit(TokenSemaphoreAdmin admin) {
    return Awaitility.await()
        .until(() -> admin.audit(Duration.ZERO), audit -> audit.outstanding() == 0);
  }

  /**
   * Repairs, with a second for tokens in use, and begins again if that fails: a cluster that has
   * just healed may not answer for some time, and what it did not answer may still be under way.
   */
  public static TokenAudit repaired(TokenSemaphoreAdmin admin, Duration within) {
    return Awaitility.await()
        .atMost(within)
        .ignoreExceptionsInstanceOf(LockException.class)
        .until(() -> admin.repair(Duration.ofSeconds(1)), Objects::nonNull);
  }

  /**
   * Verifies the lease until it is HELD. A verification proves nothing if a message is on its way
   * inside the process for half a second, as on a machine that stalls. The lease may be UNCERTAIN
   * then, and is never LOST.
   */
  public static void verified(Lease lease) {
    Awaitility.await()
        .pollDelay(Duration.ZERO)
        .pollInterval(Duration.ofMillis(10))
        .until(
            () -> {
              LeaseState state = lease.verify();
              Assertions.assertThat(state)
                  .as("%s, %s", lease, lease.lossReason())
                  .isNotEqualTo(LeaseState.LOST);
              return state == LeaseState.HELD;
            });
  }

  /** Whether a get was answered by a message. */
  public static boolean isThere(@Nullable GetResponse got) {
    return got != null;
  }

  /** Looks at all that wait in the queue. */
  public static List<String> idle(Broker broker, String queue) throws Exception {
    try (Connection connection = broker.connectionFactory().newConnection("stranger")) {
      Channel channel = connection.createChannel();
      List<String> texts =
          take(channel, queue, 100).stream()
              .map(got -> new String(got.getBody(), StandardCharsets.UTF_8))
              .sorted()
              .toList();
      channel.basicNack(0, true, true);
      channel.close();
      return texts;
    }
  }
}
