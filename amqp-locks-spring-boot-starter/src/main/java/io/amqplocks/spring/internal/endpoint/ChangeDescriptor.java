package io.amqplocks.spring.internal.endpoint;

import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * What an operator's request did.
 *
 * @param done what was done, in words
 * @param next what happens now, or is left to do; null if nothing is
 * @param lock how the lock stands after it
 */
public record ChangeDescriptor(String done, @Nullable String next, LockDescriptor lock)
    implements OperationResponseBody {}
