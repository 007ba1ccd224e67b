package io.amqplocks.benchmarks.peers;

import java.util.ArrayList;
import java.util.List;

/** A process that acquires all slots of a lock, says so, and is killed. */
final class HolderMain {

  /** What it says. */
  static final String HELD = "held";

  private HolderMain() {}

  /**
   * Runs it.
   *
   * @param args the kind, the server's address, the lock's name
   */
  public static void main(String[] args) throws Exception {
    Kind kind = Kind.valueOf(args[0]);
    PeerLock lock = kind.peer().connect(args[1]).lock(kind, args[2]);
    List<AutoCloseable> leases = new ArrayList<>();
    while (leases.size() < kind.slots()) {
      leases.add(lock.acquire());
    }
    System.out.println(HELD);
    Thread.sleep(Long.MAX_VALUE);
  }
}
