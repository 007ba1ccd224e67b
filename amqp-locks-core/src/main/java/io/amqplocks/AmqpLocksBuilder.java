package io.amqplocks;

import com.rabbitmq.client.Address;
import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.internal.broker.QueueNames;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockListener;
import io.amqplocks.lock.LockObserver;
import io.amqplocks.lock.ProbeKind;
import io.amqplocks.lock.QueueNaming;
import io.amqplocks.lock.SlotOrder;
import io.amqplocks.lock.TokenNaming;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The settings of an {@link AmqpLocks}. Each has a default that suits most applications. Not
 * thread-safe.
 */
public final class AmqpLocksBuilder {

  /** Longer than any heartbeat. Nanoseconds of centuries overflow. */
  private static final Duration LONGEST_SILENCE = Duration.ofDays(1);

  final ConnectionFactory factory;
  private List<Address> addresses = List.of();
  String connectionName = "amqp-locks";
  Duration heartbeat = Duration.ofSeconds(10);
  @Nullable Duration certainFor;
  private @Nullable Duration callTimeout;
  private @Nullable Duration verifyEvery;
  QueueNames names = new QueueNames(QueueNames.DEFAULT_PREFIX);
  SlotOrder slotOrder = SlotOrder.RANDOM;
  ProbeKind probing = ProbeKind.CONFIRM;
  final List<LockListener> listeners = new ArrayList<>();
  final List<LockObserver> observers = new ArrayList<>();

  AmqpLocksBuilder(ConnectionFactory factory) {
    this.factory = factory.clone();
  }

  /**
   * The nodes of the broker. They are tried in the client library's order until one answers.
   * Default: the factory's host and port.
   */
  public AmqpLocksBuilder addresses(List<Address> nodes) {
    addresses = List.copyOf(nodes);
    return this;
  }

  /**
   * The name of the connections at the broker. The purpose of each is appended, as in "amqp-locks
   * holder". Default: {@code amqp-locks}. The name of the application is a good choice, because it
   * shows an operator who holds.
   */
  public AmqpLocksBuilder connectionName(String name) {
    connectionName = name;
    return this;
  }

  /**
   * The heartbeat to request from the broker, in whole seconds, at least one. Default: 10 s. The
   * broker may insist on a shorter one.
   *
   * <p>The slots of a holder that is cut off or frozen become free after two to three heartbeats.
   * Those of a killed process become free at once, since its connection is closed. A lease whose
   * holder cannot reach the broker is UNCERTAIN after a little less than two heartbeats and LOST
   * after three.
   */
  public AmqpLocksBuilder heartbeat(Duration interval) {
    if (interval.compareTo(Duration.ofSeconds(1)) < 0
        || interval.compareTo(Duration.ofMinutes(10)) > 0
        || interval.toNanosPart() != 0) {
      throw new LockException.Invalid(
          "A heartbeat of %s is not possible; use whole seconds, from 1 second to 10 minutes"
              .formatted(interval));
    }
    heartbeat = interval;
    return this;
  }

  /**
   * For how long leases stay HELD while the broker is silent; at least one second. Default: 1.75
   * heartbeats. A longer time has no effect.
   *
   * <p>With a shorter time, each connection that holds a lease sends a small request twice within
   * it. If the newest request that was answered was sent longer ago than that, the leases of the
   * connection are UNCERTAIN. This limits how long a holder trusts a connection that only the
   * broker knows to be dead. If the broker or this process halts for that long, leases are
   * UNCERTAIN for a moment as well. No lease is lost by that.
   *
   * @throws LockException.Invalid if it is shorter than a second
   */
  public AmqpLocksBuilder certainFor(Duration longestSilence) {
    if (longestSilence.compareTo(Duration.ofSeconds(1)) < 0) {
      throw new LockException.Invalid(
          "Leases cannot be certain for %s only; use 1 second at least".formatted(longestSilence));
    }
    certainFor = longestSilence.compareTo(LONGEST_SILENCE) < 0 ? longestSilence : LONGEST_SILENCE;
    return this;
  }

  /**
   * The bound on the broker's part of each call, for all steps together; not more than the
   * heartbeat. Default: 5 s, or the heartbeat if that is shorter.
   *
   * <p>Connecting is included, however many addresses there are. A connect that takes longer
   * continues, and later calls use its connection. Opening a channel has the same bound again, but
   * most calls find one open.
   */
  public AmqpLocksBuilder callTimeout(Duration bound) {
    if (bound.compareTo(Duration.ofMillis(10)) < 0) {
      throw new LockException.Invalid(
          "A call timeout of %s is not possible; use 10 ms at least".formatted(bound));
    }
    callTimeout = bound;
    return this;
  }

  /**
   * The time between two verifications of all held leases; not more than the heartbeat. Default:
   * half the heartbeat. Within this time a holder learns that its slot was removed.
   */
  public AmqpLocksBuilder verifyEvery(Duration interval) {
    if (interval.compareTo(Duration.ofMillis(10)) < 0) {
      throw new LockException.Invalid(
          "A verification every %s is not possible; use 10 ms at least".formatted(interval));
    }
    verifyEvery = interval;
    return this;
  }

  /**
   * The prefix of all queue names. Default: {@code amqp-locks.}. All processes that share locks
   * must use the same one, and their users need permissions for it.
   */
  public AmqpLocksBuilder queuePrefix(String prefix) {
    names = names.withPrefix(prefix);
    return this;
  }

  /**
   * The names of the queues of mutexes and slot semaphores. Default: {@code PREFIX mutex.NAME} and
   * {@code PREFIX semaphore.NAME} with {@code .slot.N}, {@code .holder.N} and {@code .admin}. With
   * other names, processes of other clients can share these locks. The prefix then applies only to
   * queues that the scheme does not name.
   */
  public AmqpLocksBuilder naming(QueueNaming scheme) {
    names = names.withScheme(scheme);
    return this;
  }

  /**
   * Lets token semaphores be shared with clients of the blog post's plain protocol, by naming their
   * queues. Default: our own names, with a record beside the tokens.
   */
  public AmqpLocksBuilder tokenNaming(TokenNaming scheme) {
    names = names.withPlainTokens(scheme);
    return this;
  }

  /**
   * Which of several free slots of a slot semaphore to try first. Default: {@link
   * SlotOrder#RANDOM}.
   */
  public AmqpLocksBuilder slotOrder(SlotOrder order) {
    slotOrder = order;
    return this;
  }

  /**
   * How slot semaphores look for free slots. Default: {@link ProbeKind#CONFIRM}. Processes that
   * share locks may use different ones.
   */
  public AmqpLocksBuilder probing(ProbeKind kind) {
    probing = Objects.requireNonNull(kind);
    return this;
  }

  /** Adds a listener. */
  public AmqpLocksBuilder listener(LockListener listener) {
    listeners.add(Objects.requireNonNull(listener));
    return this;
  }

  /** Adds an observer, which follows calls and leases on their threads, as tracing requires. */
  public AmqpLocksBuilder observer(LockObserver observer) {
    observers.add(Objects.requireNonNull(observer));
    return this;
  }

  /**
   * Builds the {@code AmqpLocks}. This does not connect to the broker.
   *
   * @throws LockException.Invalid if the settings contradict each other
   */
  public AmqpLocks build() {
    if (verifyEvery().compareTo(heartbeat) > 0) {
      throw new LockException.Invalid(
          "Leases verified every %s are not certain with a heartbeat of %s; verify at least as often"
              .formatted(verifyEvery(), heartbeat));
    }
    if (callTimeout().compareTo(heartbeat) > 0) {
      throw new LockException.Invalid(
          "With a call timeout of %s an answer could be older than the heartbeat of %s and prove"
                  .formatted(callTimeout(), heartbeat)
              + " nothing; use a call timeout of at most the heartbeat");
    }
    return new BrokerLocks(this);
  }

  List<Address> addresses() {
    return addresses.isEmpty()
        ? List.of(new Address(factory.getHost(), factory.getPort()))
        : addresses;
  }

  Duration verifyEvery() {
    return verifyEvery == null ? heartbeat.dividedBy(2) : verifyEvery;
  }

  Duration callTimeout() {
    Duration usual = Duration.ofSeconds(5);
    if (callTimeout != null) {
      return callTimeout;
    }
    return heartbeat.compareTo(usual) < 0 ? heartbeat : usual;
  }
}
