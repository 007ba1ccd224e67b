package io.amqplocks.spring;

import io.amqplocks.lock.Lease;

/** A lock in use: by a lease that calls do not join, as it is no call's. */
public final class HeldByAnother {

  private HeldByAnother() {}

  /** Does that while another one holds the lock. */
  public static void during(LockHandle lock, Runnable action) {
    Lease another = lock.acquire();
    try {
      action.run();
    } finally {
      another.close();
    }
  }
}
