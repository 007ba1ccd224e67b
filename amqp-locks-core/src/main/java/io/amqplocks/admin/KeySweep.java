package io.amqplocks.admin;

import io.amqplocks.lock.LockName;
import java.util.List;

/**
 * The result of a sweep of the locks with keys of one name.
 *
 * @param removed the names of the locks that were removed, or were gone already
 * @param kept how many stay: they are in use, or were not unused for long enough, or have to be
 *     repaired
 * @param left how many were not looked at; another call goes on with them
 */
public record KeySweep(List<LockName> removed, int kept, int left) {

  /** Copies the list. */
  public KeySweep {
    removed = List.copyOf(removed);
  }
}
