package io.amqplocks.admin;

import io.amqplocks.lock.LockName;
import java.util.List;

/**
 * The result of a sweep of the locks with keys of one name.
 *
 * @param removed the names of the locks that were removed, or were gone already
 * @param kept how many stay: they are in use, or were not unused for long enough, or have to be
 *     repaired, or could not be looked at
 * @param left how many entries of the index this call did not look at; later calls go on with them.
 *     It includes keys that earlier calls kept, so it never becomes 0 if more than a thousand keys
 *     are in use. Do not loop until it is 0
 */
public record KeySweep(List<LockName> removed, int kept, int left) {

  /** Copies the list. */
  public KeySweep {
    removed = List.copyOf(removed);
  }
}
