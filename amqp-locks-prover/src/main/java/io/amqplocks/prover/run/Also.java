package io.amqplocks.prover.run;

import io.amqplocks.prover.driver.Load;
import io.amqplocks.prover.driver.LockRef;
import io.amqplocks.prover.run.Plan.Work;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;

/** What threads do besides what a plan says. It is asked for, so plans stay as they are. */
enum Also {
  /**
   * The first thread of each client for each lock holds it for 4 s. Whoever is wrong for longer
   * than is excused after a fault then shows it.
   */
  LONG_HOLDS,
  /** Every second thread of classic tokens waits for a fencing token, and is refused. */
  REFUSED,
  /** All wait for the lock, and hold it for 0.2 ms at most, without a pause: many operations. */
  DENSE;

  private static final long LONG_MICROS = 4_000_000;
  private static final long SHORT_MICROS = 200;

  /** The plan with that. */
  Plan in(Plan plan) {
    Set<List<Object>> seen = new HashSet<>();
    List<Work> work = new ArrayList<>();
    for (Work each : plan.work()) {
      boolean isFirst = seen.add(List.of(each.client(), each.lock()));
      boolean isMeant =
          switch (this) {
            case LONG_HOLDS -> isFirst;
            case REFUSED ->
                each.lock().kind() == LockRef.Kind.CLASSIC_TOKENS && work.size() % 2 == 0;
            case DENSE -> !each.lock().kind().consumes();
          };
      work.add(isMeant ? new Work(each.client(), each.lock(), load(each.load())) : each);
    }
    return new Plan(
        plan.seed(),
        plan.clients(),
        plan.locks(),
        List.copyOf(work),
        plan.resizes(),
        plan.harms(),
        plan.length());
  }

  private Load load(Load load) {
    return switch (this) {
      case LONG_HOLDS -> load.holding(LONG_MICROS);
      case REFUSED -> new Load(1, true, false, 5_000, load.holdMicros(), load.pauseMicros());
      case DENSE ->
          new Load(
              load.permits(),
              load.fenced(),
              load.reads(),
              5_000,
              Math.min(load.holdMicros(), SHORT_MICROS),
              0);
    };
  }
}
