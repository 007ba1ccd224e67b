package io.amqplocks.spring.internal.guard.declared;

import io.amqplocks.spring.LeaderOnly;
import io.amqplocks.spring.MutexGuarded;

/** For subclasses in other packages. */
public class PackagePrivateMethods {

  @MutexGuarded(name = "m")
  void work() {}

  /** Of one that only a leader calls. */
  public static class OfALeader {
    @LeaderOnly("m")
    void work() {}
  }
}
