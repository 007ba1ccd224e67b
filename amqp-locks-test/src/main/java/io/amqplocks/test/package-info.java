/**
 * Real RabbitMQ brokers for tests, and the faults to hurt them with.
 *
 * <p>A test class says {@link io.amqplocks.test.BrokerTest @BrokerTest} and takes a {@link
 * io.amqplocks.test.Broker} as a parameter; code without JUnit calls {@link
 * io.amqplocks.test.Brokers#start()}. The broker is, in this order, the one that {@code
 * AMQP_LOCKS_BROKER_URI} names, a Docker container, or a private process of a {@code
 * rabbitmq-server} installed on the machine.
 *
 * <p>{@link io.amqplocks.test.Cluster} is three nodes with real partitions between them. {@link
 * io.amqplocks.test.TcpProxy} hurts the network between a client and a broker, {@link
 * io.amqplocks.test.ChildJvm} is a client process that may be killed or frozen.
 */
@NullMarked
package io.amqplocks.test;

import org.jspecify.annotations.NullMarked;
