package io.amqplocks.test;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * Faults by Erlang expressions evaluated in the server: the calls that {@code rabbitmqctl} makes,
 * without the Erlang machine that it starts for each.
 */
final class NodeFaults implements BrokerFaults {

  private final NodeControl node;

  // A fault is noted before it is asked for, and one that is undone afterwards: whoever fails in
  // between, by an interrupt for instance, may have caused it.
  private final Set<String> policies = ConcurrentHashMap.newKeySet();
  private final Set<String> users = ConcurrentHashMap.newKeySet();
  private final Set<String> suspended = ConcurrentHashMap.newKeySet();
  private volatile boolean alarm;
  private volatile boolean consumerTimeout;

  NodeFaults(NodeControl node) {
    this.node = node;
  }

  @Override
  public void kill() {
    node.kill();
  }

  @Override
  public void start() {
    if (!node.running()) {
      suspended.clear();
      alarm = false;
      consumerTimeout = false;
      node.start();
    }
  }

  @Override
  public void restart() {
    node.stop();
    start();
  }

  @Override
  public void freeze() {
    node.freeze();
  }

  @Override
  public void thaw() {
    node.thaw();
  }

  @Override
  public void closeConnections(String userProvidedName, String reason) {
    String closed =
        ask(Erlang.CONNECTION_NAMES + Erlang.CLOSE_CONNECTIONS, userProvidedName, reason);
    if (closed.equals("0")) {
      throw new IllegalStateException("There is no connection named " + userProvidedName);
    }
  }

  @Override
  public void deleteQueue(String queue) {
    if (ask(Erlang.DELETE_QUEUE, queue).equals("none")) {
      throw new IllegalStateException("There is no queue named " + queue);
    }
  }

  @Override
  public void crashQueue(String queue) {
    if (ask(Erlang.CRASH_QUEUE, queue).equals("none")) {
      throw new IllegalStateException("There is no process here of a queue named " + queue);
    }
  }

  @Override
  public void dropLinkTo(String queue) {
    if (ask(Erlang.DROP_LINK, queue).equals("none")) {
      throw new IllegalStateException("There is no process here of a quorum queue named " + queue);
    }
  }

  @Override
  public void forgetMember(String queue) {
    if (ask(Erlang.FORGET_MEMBER, queue).equals("none")) {
      throw new IllegalStateException("There is no quorum queue named " + queue);
    }
  }

  @Override
  public void writeMembers() {
    ask(Erlang.WRITE_MEMBERS);
  }

  @Override
  public List<String> electLeaders() {
    return Arrays.stream(ask(Erlang.ELECT_LEADERS).split("\n"))
        .filter(line -> !line.isEmpty())
        .map(Erlang::text)
        .toList();
  }

  @Override
  public void suspendQueue(String queue) {
    suspended.add(queue);
    if (ask(Erlang.SUSPEND_QUEUE, queue).equals("none")) {
      suspended.remove(queue);
      throw new IllegalStateException("There is no queue named " + queue);
    }
  }

  @Override
  public int suspendConsumers(String queue, Duration time) {
    String suspendedChannels = ask(Erlang.SUSPEND_CONSUMERS, queue, Long.toString(time.toMillis()));
    if (suspendedChannels.equals("none")) {
      throw new IllegalStateException("There is no queue named " + queue);
    }
    return Integer.parseInt(suspendedChannels);
  }

  @Override
  public void keepQueueBusy(String queue, Duration time) {
    if (ask(Erlang.KEEP_QUEUE_BUSY, queue, Long.toString(time.toMillis())).equals("none")) {
      throw new IllegalStateException("There is no queue named " + queue);
    }
  }

  @Override
  public void resumeQueue(String queue) {
    ask(Erlang.RESUME_QUEUE, queue);
    suspended.remove(queue);
  }

  @Override
  public void setPolicy(String name, String pattern, String applyTo, String definitionJson) {
    policies.add(name);
    ask(Erlang.SET_POLICY, name, pattern, definitionJson, applyTo);
  }

  @Override
  public void clearPolicy(String name) {
    ask(Erlang.CLEAR_POLICY, name);
    policies.remove(name);
  }

  @Override
  public void memoryAlarm(boolean on) {
    alarm = true;
    ask(on ? Erlang.SET_ALARM : Erlang.CLEAR_ALARM);
    alarm = on;
  }

  @Override
  public void addUser(String user, String password, String configure, String write, String read) {
    users.add(user);
    ask(Erlang.ADD_USER, user, password, configure, write, read);
  }

  @Override
  public void deleteUser(String user) {
    ask(Erlang.DELETE_USER, user);
    users.remove(user);
  }

  @Override
  public void setConsumerTimeout(Duration timeout) {
    consumerTimeout = true;
    ask(Erlang.SET_CONSUMER_TIMEOUT, Long.toString(timeout.toMillis()));
  }

  @Override
  public void enablePlugin(String name) {
    ask(Erlang.ENABLE_PLUGIN, name);
  }

  @Override
  public void setDefaultQueueType(String type) {
    ask(Erlang.SET_DEFAULT_QUEUE_TYPE, type);
  }

  @Override
  public List<BrokerQueue> queues() {
    return rows(Erlang.QUEUES)
        .map(
            row ->
                new BrokerQueue(
                    Erlang.text(row[0]),
                    Boolean.parseBoolean(row[1]),
                    Integer.parseInt(row[2]),
                    Long.parseLong(row[3]),
                    Erlang.text(row[4])))
        .toList();
  }

  @Override
  public List<String> connections() {
    return rows(Erlang.CONNECTIONS).map(row -> Erlang.text(row[0])).sorted().toList();
  }

  @Override
  public BrokerUsage usage() {
    String[] numbers = ask(Erlang.USAGE).split("\\|", -1);
    return new BrokerUsage(
        Long.parseLong(numbers[0]), Long.parseLong(numbers[1]), Long.parseLong(numbers[2]));
  }

  @Override
  public void rollOverLogs() {
    ask(Erlang.ROLL_OVER_LOGS);
  }

  @Override
  public void heal() {
    if (node.running()) {
      thaw();
    }
    start();
    List<Runnable> steps = new ArrayList<>();
    if (alarm) {
      steps.add(() -> memoryAlarm(false));
    }
    if (consumerTimeout) {
      steps.add(this::resetConsumerTimeout);
    }
    suspended.forEach(queue -> steps.add(() -> resumeQueue(queue)));
    policies.forEach(policy -> steps.add(() -> clearPolicy(policy)));
    users.forEach(user -> steps.add(() -> deleteUser(user)));
    runAll(steps);
  }

  private void resetConsumerTimeout() {
    ask(Erlang.RESET_CONSUMER_TIMEOUT);
    consumerTimeout = false;
  }

  /** If one fails, when all are done. */
  private static void runAll(List<Runnable> steps) {
    List<RuntimeException> failures = new ArrayList<>();
    for (Runnable step : steps) {
      try {
        step.run();
      } catch (RuntimeException failed) {
        failures.add(failed);
      }
    }
    if (!failures.isEmpty()) {
      RuntimeException first = failures.remove(0);
      failures.forEach(first::addSuppressed);
      throw first;
    }
  }

  private Stream<String[]> rows(String expressions) {
    return Arrays.stream(ask(Erlang.CONNECTION_NAMES + expressions).split("\n"))
        .filter(line -> !line.isEmpty())
        .map(line -> line.split("\\|", -1));
  }

  private String ask(String expressions, String... texts) {
    return node.eval(Erlang.fill(expressions, texts));
  }
}
