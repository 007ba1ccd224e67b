package io.amqplocks.prover.history;

import com.fasterxml.jackson.annotation.JsonInclude;
import io.amqplocks.prover.driver.Command;
import io.amqplocks.prover.driver.Event;
import org.jspecify.annotations.Nullable;

/**
 * One line of a history: a command to a client, an event of a client, something that was done to
 * one of them or to the broker, or a write that a guarded row took.
 *
 * @param client which client it is about; null if it is about the broker or a row
 * @param command what the client was told to do
 * @param event what the client did
 * @param fault what was done to it
 * @param stored what a guarded row took, whoever wrote it
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
public record Entry(
    @Nullable String client,
    @Nullable Command command,
    @Nullable Event event,
    @Nullable FaultSpan fault,
    @Nullable Stored stored) {}
