package io.amqplocks.test;

/**
 * A queue as the broker sees it at one moment.
 *
 * @param name its name
 * @param exclusive whether it belongs to one connection
 * @param consumers how many consumers it has
 * @param messages how many messages it holds, ready and unacknowledged
 * @param owner the client-provided name of the connection that an exclusive queue belongs to; empty
 *     for other queues, or if that connection has no name or is just closing
 */
public record BrokerQueue(
    String name, boolean exclusive, int consumers, long messages, String owner) {}
