package io.amqplocks.spring.internal.endpoint;

import io.amqplocks.spring.OnMismatch;
import io.amqplocks.spring.internal.endpoint.LockDescriptor.Configured;
import io.amqplocks.spring.internal.endpoint.LockDescriptor.Here;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What is odd about a lock, in words for somebody who was just woken. */
final class LockNotes {

  private LockNotes() {}

  /**
   * What is odd about a lock.
   *
   * @param ofKey whether it is the lock of a key, which is created at its first use
   */
  static @Nullable String on(
      @Nullable Configured configured, boolean ofKey, BrokerDescriptor broker, Here here) {
    List<String> notes = new ArrayList<>();
    Integer slots = broker.slots();
    Integer wanted = configured == null ? null : configured.slots();
    if (Boolean.FALSE.equals(broker.exists())) {
      notes.add(absent(wanted != null, ofKey));
    } else if (configured != null && slots != null && wanted != null && !slots.equals(wanted)) {
      notes.add(
          "The application configures %d slots; the %d at the broker count."
              .formatted(wanted, slots));
      String later = undoneBy(configured, ofKey, slots);
      if (later != null) {
        notes.add(later);
      }
    }
    if (broker.pendingWithdrawals() != null && !Boolean.FALSE.equals(broker.exists())) {
      notes.add("It was made smaller: the slots that are too many go as they are given back.");
    }
    if (broker.unsettled() != null) {
      notes.add("A change was interrupted: resize it to its present number to settle it.");
    }
    if (here.leases().stream().anyMatch(lease -> lease.state().equals("UNCERTAIN"))) {
      notes.add("The broker has not confirmed a lease here for too long: it may be lost already.");
    }
    return notes.isEmpty() ? null : String.join(" ", notes);
  }

  private static String absent(boolean createdByApplications, boolean ofKey) {
    if (!createdByApplications) {
      return "Nobody can have it: it does not exist at the broker, or is not enabled.";
    }
    return ofKey
        ? "It does not exist at the broker. Its next use creates it."
        : "It does not exist at the broker: an operator destroyed it, or the broker lost it."
            + " A restart of an application creates it.";
  }

  /**
   * What becomes of that number of slots when an application starts, or when a process uses a key
   * for the first time; null if it stays.
   */
  static @Nullable String undoneBy(Configured configured, boolean ofKey, int slots) {
    Integer wanted = configured.slots();
    OnMismatch then = configured.onMismatch();
    if (wanted == null || wanted == slots || then == null) {
      return null;
    }
    return switch (then) {
      case ADOPT -> null;
      case RESIZE ->
          (ofKey
                      ? "The next process that uses this key for the first time sets it back to %d"
                      : "The next start of an application sets it back to %d")
                  .formatted(wanted)
              + " (on-mismatch=resize).";
      case FAIL ->
          (ofKey
                      ? "No process that configures %d can begin to use this key, until it says %d"
                      : "No application starts that configures %d, until it says %d")
                  .formatted(wanted, slots)
              + " (on-mismatch=fail).";
    };
  }
}
