package io.amqplocks.spring.internal.endpoint;

import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What the broker says of one lock: of all processes together. What it does not tell is null.
 *
 * @param exists whether it can be acquired at all; null for locks that do not have to be created
 * @param slots how many may hold it at once
 * @param inUse how many hold it
 * @param free how many more could at once
 * @param heldSlots which slots are held, where the broker can tell
 * @param pendingWithdrawals how many slots go when their holders give them back
 * @param unsettled how many tokens of an interrupted change may or may not exist
 * @param error why the broker did not say; then all else is null
 */
public record BrokerDescriptor(
    @Nullable Boolean exists,
    @Nullable Integer slots,
    @Nullable Integer inUse,
    @Nullable Integer free,
    @Nullable Set<Integer> heldSlots,
    @Nullable Integer pendingWithdrawals,
    @Nullable Integer unsettled,
    @Nullable String error) {

  static BrokerDescriptor failed(String error) {
    return new BrokerDescriptor(null, null, null, null, null, null, null, error);
  }

  static BrokerDescriptor mutex(@Nullable Boolean exists, boolean held) {
    boolean had = exists == null || exists;
    return new BrokerDescriptor(
        exists, 1, held ? 1 : 0, had && !held ? 1 : 0, null, null, null, null);
  }

  /** A read-write lock with that many holders, of either side. */
  static BrokerDescriptor readWriteLock(int holders) {
    return new BrokerDescriptor(null, null, holders, null, null, null, null, null);
  }

  /** Whether there is surely no such lock: nobody made it, or nobody holds what needs no making. */
  boolean isAbsent() {
    Boolean made = exists;
    return error == null && (made == null ? Objects.equals(inUse, 0) : !made);
  }
}
