package io.amqplocks.benchmarks.scale;

/** What a reading says. */
enum Quantity {
  MEMORY,
  RESIDENT,
  PROCESSES,
  ATOMS,
  BUSY,
  WRITTEN;

  /** What it varies by from one reading to the next, for no reason that is looked for. */
  double noise() {
    return switch (this) {
      case MEMORY, RESIDENT -> 5e6;
      // Three of the hundredths of a second in which the operating system counts, in ten seconds.
      case BUSY -> 0.003;
      case PROCESSES, ATOMS, WRITTEN -> 0;
    };
  }

  double of(Reading reading) {
    return switch (this) {
      case MEMORY -> reading.memory();
      case RESIDENT -> reading.resident();
      case PROCESSES -> reading.processes();
      case ATOMS -> reading.atoms();
      case BUSY -> reading.busy();
      case WRITTEN -> reading.written();
    };
  }
}
