package io.amqplocks.test;

/**
 * What a server keeps, by its own account.
 *
 * @param memory bytes that are in use after a garbage collection of all its processes
 * @param processes how many Erlang processes there are
 * @param atoms how many there are; they are never freed
 */
public record BrokerUsage(long memory, long processes, long atoms) {}
