package io.amqplocks.prover.check;

import io.amqplocks.prover.driver.LockRef;
import io.amqplocks.prover.history.Claim;
import io.amqplocks.prover.history.Interval;
import java.util.List;

/** Leases of golden histories. */
final class Claims {

  static final LockRef MUTEX = new LockRef(LockRef.Kind.FENCED_MUTEX, "m");
  static final LockRef READ_WRITE = new LockRef(LockRef.Kind.READ_WRITE_LOCK, "r");
  static final LockRef TOKENS = new LockRef(LockRef.Kind.QUORUM_TOKENS, "s");

  private Claims() {}

  /** A lease that is certain from its acquire to its release. */
  static Claim held(String client, LockRef lock, int permits, long asked, long from, long to) {
    return new Claim(
        client,
        lock,
        1,
        1,
        false,
        false,
        permits,
        1,
        0,
        asked,
        from,
        List.of(new Interval(from, to)),
        Claim.End.RELEASED,
        to + 1);
  }

  /** A lease with a fencing token. */
  static Claim fenced(String client, int slot, long token, long asked, long acquired) {
    return new Claim(
        client,
        MUTEX,
        1,
        1,
        false,
        true,
        1,
        slot,
        token,
        asked,
        acquired,
        List.of(new Interval(acquired, acquired + 1)),
        Claim.End.RELEASED,
        acquired + 2);
  }

  /** A lease of a write lock. */
  static Claim writer(String client, long asked, long from, long to) {
    return held(client, READ_WRITE, 1, asked, from, to);
  }

  /** A lease of a read lock. */
  static Claim reader(String client, long asked, long from, long to) {
    return reading(writer(client, asked, from, to));
  }

  /** The same lease, of a read lock. */
  static Claim reading(Claim claim) {
    return new Claim(
        claim.client(),
        READ_WRITE,
        claim.command(),
        claim.cycle(),
        true,
        claim.fenced(),
        claim.permits(),
        claim.slot(),
        claim.token(),
        claim.asked(),
        claim.acquired(),
        claim.certain(),
        claim.end(),
        claim.ended());
  }
}
