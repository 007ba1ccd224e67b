package io.amqplocks.internal.waiting;

/** A place's order in a line: the higher priority first, and then first come, first served. */
record Rank(int priority, long number) implements Comparable<Rank> {

  @Override
  public int compareTo(Rank other) {
    return priority == other.priority
        ? Long.compare(number, other.number)
        : Integer.compare(other.priority, priority);
  }
}
