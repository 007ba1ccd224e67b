package io.amqplocks.spring.internal.endpoint;

import io.amqplocks.lock.LockException;
import java.util.function.Supplier;

/** The broker failed a change whose first part cannot be taken back. */
final class PartialChangeException extends RuntimeException {

  private static final long serialVersionUID = 1L;

  private final LockException reason;

  private PartialChangeException(LockException reason, String done) {
    super(asSentence(reason) + " " + done, reason);
    this.reason = reason;
  }

  /** Does the rest of it, after that many leases of this process were taken back. */
  static <T> T unless(int revoked, Supplier<T> rest) {
    return revoked == 0
        ? rest.get()
        : unless(
            "Leases of this process that were taken back already: %d.".formatted(revoked), rest);
  }

  /** Does the rest of it. */
  static <T> T unless(String done, Supplier<T> rest) {
    try {
      return rest.get();
    } catch (LockException e) {
      throw new PartialChangeException(e, done);
    }
  }

  private static String asSentence(LockException reason) {
    String message = String.valueOf(reason.getMessage());
    return message.endsWith(".") ? message : message + ".";
  }

  /** Why the rest was not done. */
  LockException reason() {
    return reason;
  }
}
