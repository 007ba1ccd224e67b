package io.amqplocks.test;

import java.util.List;

/**
 * Starts brokers for code without JUnit.
 *
 * <pre>{@code
 * try (OwnedBroker broker = Brokers.start()) {
 *   Connection connection = broker.connectionFactory().newConnection();
 * }
 * }</pre>
 *
 * <p>Where a broker comes from, in this order:
 *
 * <ol>
 *   <li>the URI in the environment variable {@code AMQP_LOCKS_BROKER_URI}: that broker serves for
 *       every line, and cannot be hurt;
 *   <li>Docker, if an engine answers and {@code testcontainers-rabbitmq} is on the class path;
 *   <li>a {@code rabbitmq-server} on this machine, run as a private process on 127.0.0.1 with ports
 *       and folders of its own. The system's broker is never touched;
 *   <li>Apache Qpid Broker-J in this JVM, if {@code qpid-broker-core}, {@code
 *       qpid-broker-plugins-amqp-0-8-protocol} and {@code qpid-broker-plugins-memory-store} are on
 *       the class path. It is not RabbitMQ: mutexes, slot semaphores, and token semaphores of
 *       CLASSIC queues work there. {@link #start()} uses it where no RabbitMQ is to be had, and it
 *       can be asked for as line {@link #EMBEDDED}. A {@link BrokerTest} only uses it if it says
 *       so.
 * </ol>
 *
 * <p>A line is a release line such as {@code 4.3}. {@code AMQP_LOCKS_BROKER_LINES}, separated by
 * commas, says which lines are wanted, the preferred one first; unset, all that are there, newest
 * first. Where a suite runs several times, such as once with each JDK, {@code
 * AMQP_LOCKS_BROKER_TURN} may share the lines among the runs: with {@code 1/2} and {@code 2/2}, a
 * class with {@link BrokerTest#everyLine()} runs on each line in one of them, and any other {@link
 * BrokerTest} in the first one alone.
 *
 * <p>Every call starts another broker, and none outlives the JVM, however that ends; the external
 * one stays.
 */
public final class Brokers {

  /** The name by which the broker in this JVM is asked for, in place of a release line. */
  public static final String EMBEDDED = "embedded";

  private Brokers() {}

  /** The lines wanted, the preferred one first. Not all of them need be there. */
  public static List<String> lines() {
    return BrokerOffers.find(System.getenv()).wanted();
  }

  /** Whether a broker of that line can be started. */
  public static boolean has(String line) {
    return BrokerOffers.find(System.getenv()).offer(line).isPresent();
  }

  /**
   * Starts a broker of the preferred line, or the one in this JVM if there is no line and {@code
   * AMQP_LOCKS_BROKER_REQUIRED} is not {@code true}. Returns when it accepts connections, within
   * seconds.
   *
   * @throws IllegalStateException if there is none, with what to do about it, or if it does not
   *     start, with the end of its log
   */
  public static OwnedBroker start() {
    return BrokerOffers.find(System.getenv()).start();
  }

  /**
   * Starts a broker of a line.
   *
   * @param line for instance {@code 4.3}, or {@link #EMBEDDED}
   * @throws IllegalStateException as {@link #start()}
   */
  public static OwnedBroker start(String line) {
    return BrokerOffers.find(System.getenv()).start(line);
  }
}
