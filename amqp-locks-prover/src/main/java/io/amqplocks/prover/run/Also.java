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
  REFUSED;

  private static final long LONG_MICROS = 4_000_000;

  /** The plan with that. */
  Plan in(Plan plan) {
    Set<List<Object>> seen = new HashSet<>();
    List<Work> work = new ArrayList<>();
    for (Work each : plan.work()) {
      boolean isFirst = seen.add(List.of(each.client(), each.lock()));
      boolean isMeant =
          this == LONG_HOLDS
              ? isFirst
              : each.lock().kind() == LockRef.Kind.CLASSIC_TOKENS && work.size() % 2 == 0;
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
    return this == LONG_HOLDS
        ? load.holding(LONG_MICROS)
        : new Load(1, true, false, 5_000, load.holdMicros(), load.pauseMicros());
  }
}
