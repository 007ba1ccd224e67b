package io.amqplocks.inmemory;

import io.amqplocks.lock.LeaseSnapshot;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.stream.Collectors;

/** Puts leases into words for the failure of a test. It needs neither AssertJ nor JUnit. */
final class HeldLeases {

  private HeldLeases() {}

  /** A line for each of them, all of which begin on a new line. */
  static String lines(List<LeaseSnapshot> leases) {
    return leases.stream().map(HeldLeases::line).collect(Collectors.joining());
  }

  private static String line(LeaseSnapshot lease) {
    String what = lease.permits() == 1 ? "slot " + lease.slot() : lease.permits() + " permits";
    return "%n  %s of %s, %s for %s"
        .formatted(what, lease.lock(), lease.state(), lease.age().truncatedTo(ChronoUnit.MILLIS));
  }
}
