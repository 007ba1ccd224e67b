package io.amqplocks.benchmarks.scale;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * How much of everything is measured.
 *
 * @param mutexes at most
 * @param others of each other kind, at most: to create one takes long
 * @param clients at most
 * @param rest for how long the broker is watched at rest; whole periods of the verification
 * @param pass for how long one operation is repeated
 * @param passes of each operation
 */
record Effort(int mutexes, int others, int clients, Duration rest, Duration pass, int passes) {

  /** That of a whole run, or of a first look. */
  static Effort of(boolean quick, int clients) {
    return quick
        ? new Effort(100, 30, clients, Duration.ofSeconds(5), Duration.ofMillis(500), 2)
        : new Effort(1_000, 100, clients, Duration.ofSeconds(10), Duration.ofSeconds(1), 3);
  }

  /** How many of a kind, at most. */
  int locks(Kind kind) {
    return kind == Kind.MUTEX ? mutexes : others;
  }

  /** From 1 to that many, each about three times the one before. */
  static List<Integer> sizes(int most) {
    List<Integer> sizes = new ArrayList<>(List.of(1));
    for (int power = 10; power < most; power *= 10) {
      // Smaller ones would not be seen beside these.
      if (power >= most / 100) {
        sizes.add(power);
      }
      if (3 * power < most && 3 * power >= most / 100) {
        sizes.add(3 * power);
      }
    }
    if (most > 1) {
      sizes.add(most);
    }
    return sizes;
  }

  /** For how long the broker is watched at so many: not at all where it would show nothing. */
  Duration rest(int count, int most) {
    return 10 * count >= most ? rest : Duration.ZERO;
  }
}
