package io.amqplocks.test;

import java.time.Duration;
import java.util.List;

/**
 * The ways to hurt a broker, and to look at it from the inside.
 *
 * <p>Every method returns when the broker has done what it says, and throws {@link
 * IllegalStateException} if it has not within its time (two minutes for a start, one for anything
 * else) or if it cannot, because the broker is killed or frozen. On a broker that runs as a process
 * of this machine all but the starts and stops take milliseconds. Queues and policies are those of
 * the virtual host {@code /}. One thread at a time. On a broker that a test class shares with
 * others ({@link BrokerTest}) the faults that concern the whole broker throw {@link
 * IllegalStateException}.
 */
public interface BrokerFaults {

  /** Ends the server process as {@code kill -9} does. Nothing is flushed, no connection is closed
   * by the protocol. Does nothing if it is not running. */
  void kill();

  /** Starts the server after {@link #kill()}, with its data and on the same port, and returns when
   * it accepts AMQP connections. Does nothing if it is running. */
  void start();

  /** Stops the server cleanly and starts it again. */
  void restart();

  /** Stops the server's process in its tracks ({@code SIGSTOP}). Its sockets stay open and
   * connections are accepted by the kernel, but nothing is answered until {@link #thaw()}. */
  void freeze();

  /** Lets a frozen server go on ({@code SIGCONT}). Does nothing if it is not frozen. */
  void thaw();

  /**
   * Closes connections as an operator would: their clients are told 320 (CONNECTION_FORCED) and the
   * reason.
   *
   * @param userProvidedName the client-provided name of the connections, compared exactly
   * @param reason the text that the client is told, in ASCII
   * @throws IllegalStateException if there is no such connection
   */
  void closeConnections(String userProvidedName, String reason);

  /**
   * Deletes a queue as an operator would, with its messages and also if it is exclusive or in use.
   *
   * @throws IllegalStateException if there is no such queue
   */
  void deleteQueue(String queue);

  /**
   * Kills the queue's process on this node, as a defect of the server would, and returns when the
   * server has started another in its place. Whoever held messages of a classic queue holds them no
   * more. Of a quorum queue it is the local member's process, and holders keep their messages.
   *
   * @throws IllegalStateException if there is no such queue with a process on this node
   */
  void crashQueue(String queue);

  /**
   * Tells a quorum queue that this node's link to it dropped and is back: the queue gives away what
   * clients of this node had of it, and tells them nothing. Up to 4.2; newer ones wait a minute
   * first.
   *
   * @throws IllegalStateException if there is no such queue with a process on this node
   */
  void dropLinkTo(String queue);

  /**
   * Lets this node forget that it has a member of a quorum queue, once it is started again. A
   * {@link #kill()} does that to a queue that was created a moment before, because the broker
   * writes down such a member only after half a second. To be followed by {@link #kill()} and
   * {@link #start()}. The queue is then started anew, and empty. Up to 4.2 it has no leader and
   * answers nobody, until {@link #electLeaders()}.
   *
   * @throws IllegalStateException if there is no such quorum queue
   */
  void forgetMember(String queue);

  /**
   * Lets this node write down the members that it has of quorum queues. A {@link #kill()} that
   * follows loses none, however new they are.
   */
  void writeMembers();

  /**
   * Lets each quorum queue elect a leader that has had none for two seconds, as an operator
   * may do.
   *
   * @return the names of these queues
   */
  List<String> electLeaders();

  /**
   * Suspends a classic queue: whoever asks for it gets no answer until {@link #resumeQueue}. Its
   * connections and all other queues go on. {@link #heal()} resumes it.
   *
   * @throws IllegalStateException if there is no such queue
   */
  void suspendQueue(String queue);

  /**
   * Suspends the channels on which a queue is consumed: nothing is sent on them any more, and no
   * request is answered. Other channels of their connections go on, and so does the queue. What the
   * queue sends to such a channel stays there. After that time the channels are killed, which
   * closes their connections. Does not wait until then.
   *
   * @return how many channels there were
   * @throws IllegalStateException if there is no such queue
   */
  int suspendConsumers(String queue, Duration time);

  /**
   * Keeps a classic queue busy for that time. It still replies to passive declares, ahead of
   * messages, acknowledgements and consumers, which wait. Does not wait until that is over.
   *
   * @throws IllegalStateException if there is no such queue
   */
  void keepQueueBusy(String queue, Duration time);

  /** Lets a suspended queue go on. Does nothing if there is no queue of that name. */
  void resumeQueue(String queue);

  /**
   * Sets a policy, with priority 0. {@link #heal()} removes it.
   *
   * @param name the policy's name
   * @param pattern the regular expression that queues' or exchanges' names are matched with
   * @param applyTo {@code queues}, {@code classic_queues}, {@code exchanges}, {@code all} ...
   * @param definitionJson the definition, for instance <code>{"message-ttl":1000}</code>
   */
  void setPolicy(String name, String pattern, String applyTo, String definitionJson);

  /** Removes a policy. Does nothing if there is none of that name. */
  void clearPolicy(String name);

  /** Raises or ends the memory alarm. While it is on, connections that publish are blocked. */
  void memoryAlarm(boolean on);

  /**
   * Adds a user with permissions on the virtual host {@code /}, each a regular expression of names
   * (an empty one permits nothing but the server's own names). If it is there, it keeps its
   * password, and has these permissions from now on. {@link #heal()} removes it.
   */
  void addUser(String user, String password, String configure, String write, String read);

  /** Deletes a user. The broker closes its connections. Does nothing if there is no such user. */
  void deleteUser(String user);

  /**
   * Sets how long a delivery may stay unacknowledged before the broker closes its channel (406).
   * Holds for channels opened from now on until {@link #heal()} or a restart. From 4.3 on the
   * broker has no such timeout for classic queues, and for quorum queues it cancels the consumer.
   */
  void setConsumerTimeout(Duration timeout);

  /**
   * Sets of which type queues are that are declared without one; from 4.0 on. Stays: for a
   * broker from {@link Brokers#start()}.
   */
  void setDefaultQueueType(String type);

  /**
   * Enables a plugin that the server came with, and no other. Stays: for a broker from {@link
   * Brokers#start()}.
   */
  void enablePlugin(String name);

  /** The queues there are. */
  List<BrokerQueue> queues();

  /**
   * The client-provided names of the connections there are, sorted; one without a name is empty.
   */
  List<String> connections();

  /** What the server keeps. It collects the garbage of all its processes first. */
  BrokerUsage usage();

  /**
   * Makes the server roll its Raft logs over, as it does by itself when one has grown to some size:
   * 64 MB for the log of the metadata. What they had in memory is then freed soon after.
   */
  void rollOverLogs();

  /**
   * Undoes what is still in force of all this: thaws and starts the server, ends the alarm, removes
   * the policies and users that were set here and the consumer timeout. Queues stay. What cannot be
   * undone keeps nothing else from it, and is thrown at the end. {@link BrokerTest} calls it after
   * every test class.
   */
  void heal();
}
