package io.amqplocks.spring.internal.endpoint;

import io.amqplocks.lock.LocksStatus;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * All locks that this application names, holds or waits for.
 *
 * @param session the process's session with the broker
 * @param held leases that this process holds
 * @param uncertain how many of them the broker has not confirmed for too long
 * @param waiting calls that wait in this process
 * @param lastLoss the newest lost lease since the start; null if there is none
 * @param locks the locks
 */
public record LocksDescriptor(
    Session session,
    int held,
    int uncertain,
    int waiting,
    @Nullable Loss lastLoss,
    List<LockDescriptor> locks)
    implements OperationResponseBody {

  /**
   * The session with the broker.
   *
   * @param state NOT_OPENED, OPEN, ENDED or CLOSED
   * @param blocked whether an alarm of the broker holds up what this process publishes
   */
  public record Session(LocksStatus.Session state, boolean blocked) {}

  /**
   * A lost lease.
   *
   * @param what which, and why
   * @param at when
   */
  public record Loss(String what, Instant at) {}
}
