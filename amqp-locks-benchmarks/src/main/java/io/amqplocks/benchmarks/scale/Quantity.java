package io.amqplocks.benchmarks.scale;

/** What a reading says. */
enum Quantity {
  MEMORY,
  RESIDENT,
  PROCESSES,
  ATOMS,
  BUSY,
  WRITTEN;

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
