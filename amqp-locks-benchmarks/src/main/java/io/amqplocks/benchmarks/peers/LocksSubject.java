package io.amqplocks.benchmarks.peers;

import java.util.ArrayList;
import java.util.List;
import java.util.OptionalDouble;
import java.util.OptionalLong;
import java.util.concurrent.TimeUnit;

/**
 * More and more locks that one process holds, with all of its clients in turn: a connection of ours
 * has too few channels for so many.
 */
final class LocksSubject implements Growing.Subject {

  private final Systems systems;
  private final Kind kind;
  private final List<AutoCloseable> leases = new ArrayList<>();
  private int probes;

  LocksSubject(Systems systems, Kind kind) {
    this.systems = systems;
    this.kind = kind;
  }

  private PeerLock lock(String name, int client) throws Exception {
    return systems.client(kind.peer(), client).lock(kind, "bench-growth-" + name);
  }

  @Override
  public OptionalDouble grow(int size, TimeLimit limit) throws Exception {
    OptionalLong before = memory();
    int more = size - leases.size();
    while (leases.size() < size) {
      limit.check();
      int nth = leases.size();
      leases.add(lock("held-" + nth, nth % Systems.CLIENTS).acquire());
    }
    OptionalLong after = memory();
    return before.isPresent() && after.isPresent()
        ? OptionalDouble.of((after.getAsLong() - before.getAsLong()) / (double) more)
        : OptionalDouble.empty();
  }

  private OptionalLong memory() throws InterruptedException {
    // What was asked for a moment before may still be at work.
    TimeUnit.MILLISECONDS.sleep(500);
    return ResidentMemory.of(systems.server(kind.peer()).processes().get());
  }

  @Override
  public List<Double> probe(int size, TimeLimit limit) throws Exception {
    return SlotsSubject.burst(limit, nth -> lock("more-" + probes++, 0));
  }

  /** One that cannot be released would not be the only one: the clients' end releases the rest. */
  @Override
  public void close() throws Exception {
    for (AutoCloseable lease : leases) {
      lease.close();
    }
  }
}
