package io.amqplocks.inmemory;

import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.stream.Collectors;

/** Puts leases into words for the failure of a test. It needs neither AssertJ nor JUnit. */
final class HeldLeases {

  private HeldLeases() {}

  /** A line for each of them, all of which begin on a new line. Empty if there are none. */
  static String lines(List<InMemoryLease> leases) {
    return leases.stream().map(HeldLeases::line).collect(Collectors.joining());
  }

  private static String line(InMemoryLease lease) {
    return "%n  %s of %s, %s for %s, acquired by thread '%s'"
        .formatted(
            lease.what(),
            lease.lock(),
            lease.state(),
            lease.age().truncatedTo(ChronoUnit.MILLIS),
            lease.thread());
  }
}
