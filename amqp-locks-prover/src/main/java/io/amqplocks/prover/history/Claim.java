package io.amqplocks.prover.history;

import io.amqplocks.prover.driver.LockRef;
import java.util.ArrayList;
import java.util.List;

/**
 * One lease, as its client told of it.
 *
 * @param client the client
 * @param lock the lock
 * @param command the command that it belongs to
 * @param cycle which acquire of the command it was
 * @param reads whether it is one of the read lock of a read-write lock
 * @param fenced whether its client asked for a fencing token
 * @param permits how many slots it has
 * @param slot the first slot, from 1
 * @param token the number of its fencing token; 0 if it has none
 * @param asked when the client was about to ask for it
 * @param acquired when the client had it
 * @param certain when the client was certain to hold it; never more than it could know
 * @param end how it ended
 * @param ended when; of {@link End#UNKNOWN}, the last time that anything was heard of it
 */
public record Claim(
    String client,
    LockRef lock,
    long command,
    int cycle,
    boolean reads,
    boolean fenced,
    int permits,
    int slot,
    long token,
    long asked,
    long acquired,
    List<Interval> certain,
    End end,
    long ended) {

  /** How a lease ends. */
  public enum End {
    /** The client released it. */
    RELEASED,
    /** The client lost it, and knew. */
    LOST,
    /** The client was killed, or the history ended. */
    UNKNOWN
  }

  /** This lease, as if its client had not been certain at that time. */
  public Claim withoutCertainty(Interval during) {
    List<Interval> left = new ArrayList<>();
    for (Interval each : certain) {
      if (each.from() < during.from()) {
        left.add(new Interval(each.from(), Math.min(each.to(), during.from())));
      }
      if (each.to() > during.to()) {
        left.add(new Interval(Math.max(each.from(), during.to()), each.to()));
      }
    }
    return new Claim(
        client, lock, command, cycle, reads, fenced, permits, slot, token, asked, acquired, left,
        end, ended);
  }

  @Override
  public String toString() {
    return "%s #%d.%d".formatted(client, command, cycle);
  }
}
