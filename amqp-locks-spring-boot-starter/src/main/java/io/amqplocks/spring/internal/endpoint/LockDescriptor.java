package io.amqplocks.spring.internal.endpoint;

import io.amqplocks.lock.LockId;
import io.amqplocks.spring.OnMismatch;
import io.amqplocks.spring.internal.catalog.LockCatalog;
import io.amqplocks.spring.internal.naming.FamilyId;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.actuate.endpoint.OperationResponseBody;

/**
 * One lock, as this process and the broker see it.
 *
 * @param kind {@code semaphore}, {@code mutex}, {@code read-lock} or {@code write-lock}
 * @param name its name
 * @param algorithm how the broker keeps it, in the words of the properties
 * @param configured what this application says of it; null if it does not name the lock
 * @param broker what the broker says of it, of all processes together
 * @param here what this process has to do with it
 * @param note what an operator should know of it; null if nothing is odd
 */
public record LockDescriptor(
    String kind,
    String name,
    String algorithm,
    @Nullable Configured configured,
    BrokerDescriptor broker,
    Here here,
    @Nullable String note)
    implements OperationResponseBody {

  /**
   * What properties or annotations say.
   *
   * @param slots how many slots it is created with; null if they do not say
   * @param maxWait how long a call waits unless it says otherwise
   * @param onMismatch what a start does if the broker has another number of slots; null if they do
   *     not say how many it is to have
   */
  public record Configured(
      @Nullable Integer slots, Duration maxWait, @Nullable OnMismatch onMismatch) {

    /** What that catalog says of the lock; null if it does not name it. */
    static @Nullable Configured of(LockCatalog catalog, LockId id) {
      List<LockId> named = catalog.locks();
      if (!named.contains(id) && !named.contains(catalog.known(id))) {
        return null;
      }
      int slots = catalog.slots(id);
      return slots == 0
          ? new Configured(null, catalog.waitFor(FamilyId.of(id)), null)
          : new Configured(slots, catalog.waitFor(FamilyId.of(id)), catalog.onMismatch(id));
    }
  }

  /**
   * What this process has to do with it.
   *
   * @param held slots that it holds, each permit of a lease counted
   * @param waiting calls that wait in it
   * @param leases the leases, oldest first
   */
  public record Here(int held, int waiting, List<HeldHere> leases) {}

  /**
   * A lease of this process.
   *
   * @param slot which slot it is of; of several permits, the first one
   * @param permits how many slots it has
   * @param state HELD, or UNCERTAIN if the broker has not confirmed it for too long
   * @param since when it was acquired
   * @param age how long ago that was
   * @param unconfirmedFor how long ago the broker was asked that last confirmed it
   * @param fencingToken its fencing token, if it has one
   */
  public record HeldHere(
      int slot,
      int permits,
      String state,
      Instant since,
      Duration age,
      Duration unconfirmedFor,
      @Nullable String fencingToken) {}
}
