package io.amqplocks.spring.internal.endpoint;

import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * Why a request was not done.
 *
 * @param error what is wrong and what helps
 */
public record ProblemDescriptor(String error) implements OperationResponseBody {}
