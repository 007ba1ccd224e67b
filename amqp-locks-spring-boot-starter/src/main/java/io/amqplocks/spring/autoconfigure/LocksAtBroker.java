package io.amqplocks.spring.autoconfigure;

import io.amqplocks.spring.BrokerSettings;

/**
 * Where the locks are that the starter itself has made. There is none if the application has an
 * {@code AmqpLocks} of its own, or locks in memory.
 */
record LocksAtBroker(BrokerSettings broker, String queuePrefix) {}
