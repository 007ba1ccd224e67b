package io.amqplocks.test;

import java.time.Duration;
import java.util.List;

/**
 * The faults of a broker that several test classes use at the same time. Those that concern a
 * queue, a connection, a user or a policy are let through, and {@link #heal()} undoes what was done
 * by this object alone. Those that concern all of the broker are refused.
 *
 * @param faults of this user of the broker only
 */
record SharedFaults(BrokerFaults faults) implements BrokerFaults {

  @Override
  public void kill() {
    throw shared("killed");
  }

  @Override
  public void start() {
    throw shared("started");
  }

  @Override
  public void restart() {
    throw shared("restarted");
  }

  @Override
  public void freeze() {
    throw shared("frozen");
  }

  @Override
  public void thaw() {
    throw shared("thawed");
  }

  @Override
  public void memoryAlarm(boolean on) {
    throw shared("put under a memory alarm");
  }

  @Override
  public void setConsumerTimeout(Duration timeout) {
    throw shared("given a consumer timeout");
  }

  @Override
  public void setDefaultQueueType(String type) {
    throw shared("given a default queue type");
  }

  @Override
  public void enablePlugin(String name) {
    throw shared("given a plugin");
  }

  private static IllegalStateException shared(String change) {
    return new IllegalStateException(
        "This broker cannot be "
            + change
            + ": other test classes use it at the same time. Ask for a broker of the class's own by"
            + " @BrokerTest(ownBroker = true)");
  }

  @Override
  public void closeConnections(String userProvidedName, String reason) {
    faults.closeConnections(userProvidedName, reason);
  }

  @Override
  public void deleteQueue(String queue) {
    faults.deleteQueue(queue);
  }

  @Override
  public void crashQueue(String queue) {
    faults.crashQueue(queue);
  }

  @Override
  public void dropLinkTo(String queue) {
    faults.dropLinkTo(queue);
  }

  @Override
  public void forgetMember(String queue) {
    faults.forgetMember(queue);
  }

  @Override
  public void writeMembers() {
    faults.writeMembers();
  }

  @Override
  public List<String> electLeaders() {
    return faults.electLeaders();
  }

  @Override
  public void keepQueueBusy(String queue, Duration time) {
    faults.keepQueueBusy(queue, time);
  }

  @Override
  public int suspendConsumers(String queue, Duration time) {
    return faults.suspendConsumers(queue, time);
  }

  @Override
  public void suspendQueue(String queue) {
    faults.suspendQueue(queue);
  }

  @Override
  public void resumeQueue(String queue) {
    faults.resumeQueue(queue);
  }

  @Override
  public void setPolicy(String name, String pattern, String applyTo, String definitionJson) {
    faults.setPolicy(name, pattern, applyTo, definitionJson);
  }

  @Override
  public void clearPolicy(String name) {
    faults.clearPolicy(name);
  }

  @Override
  public void addUser(String user, String password, String configure, String write, String read) {
    faults.addUser(user, password, configure, write, read);
  }

  @Override
  public void deleteUser(String user) {
    faults.deleteUser(user);
  }

  @Override
  public List<BrokerQueue> queues() {
    return faults.queues();
  }

  @Override
  public List<String> connections() {
    return faults.connections();
  }

  @Override
  public BrokerUsage usage() {
    return faults.usage();
  }

  @Override
  public void rollOverLogs() {
    faults.rollOverLogs();
  }

  @Override
  public void heal() {
    faults.heal();
  }
}
