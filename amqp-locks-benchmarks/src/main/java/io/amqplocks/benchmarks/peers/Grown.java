package io.amqplocks.benchmarks.peers;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What was measured of one kind of lock when there were so many.
 *
 * @param growth of what there were so many
 * @param kind with which kind of lock
 * @param size how many
 * @param micros what each operation took, in the order of measuring
 * @param server what one more costs the server: bytes of a lock that is held, or microseconds on a
 *     processor of a hand-over; null if unknown
 * @param overSeconds after so many seconds it was given up; null if it was not
 */
record Grown(
    Growth growth,
    Kind kind,
    int size,
    List<Double> micros,
    @Nullable Double server,
    @Nullable Long overSeconds) {

  Grown {
    micros = List.copyOf(micros);
  }
}
