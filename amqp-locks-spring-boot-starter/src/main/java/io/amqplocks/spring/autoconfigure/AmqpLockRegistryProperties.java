package io.amqplocks.spring.autoconfigure;

import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The properties of the registry of locks for Spring Integration. It needs the module
 * amqp-locks-spring-integration.
 *
 * @param key What the names of its locks have in common. Applications with the same key share their
 *     locks. By default spring.application.name.
 * @param fenced Whether its locks are fenced mutexes, which leave queues at the broker for each
 *     lock key.
 * @param longestWait How long lock() waits at most.
 */
@ConfigurationProperties("amqp-locks.lock-registry")
public record AmqpLockRegistryProperties(
    @Nullable String key,
    @DefaultValue("false") boolean fenced,
    @DefaultValue("1h") Duration longestWait) {}
