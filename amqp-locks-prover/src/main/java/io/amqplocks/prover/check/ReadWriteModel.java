package io.amqplocks.prover.check;

import io.amqplocks.prover.check.Linearizability.Operation;
import io.amqplocks.prover.history.Claim;
import java.util.List;
import java.util.Optional;

/**
 * What a read-write lock is meant to do. The state is the number of readers, or {@link #WRITTEN}.
 */
public record ReadWriteModel() implements Linearizability.Model<Integer, ReadWriteModel.Step> {

  /** Nobody holds the lock. */
  public static final int FREE = 0;

  /** A writer holds the lock. */
  public static final int WRITTEN = -1;

  /**
   * A step.
   *
   * @param reads whether it is one of a reader
   * @param acquires whether the lock is acquired; if not, it is released
   */
  public record Step(boolean reads, boolean acquires) {}

  @Override
  public Optional<Integer> apply(Integer state, Step step) {
    if (step.reads()) {
      int least = step.acquires() ? FREE : FREE + 1;
      return state >= least ? Optional.of(state + (step.acquires() ? 1 : -1)) : Optional.empty();
    }
    int before = step.acquires() ? FREE : WRITTEN;
    return state == before ? Optional.of(step.acquires() ? WRITTEN : FREE) : Optional.empty();
  }

  /** The steps of leases, at the times of {@link LockModel#steps(List)}. */
  public static List<Operation<Step>> steps(List<Claim> claims) {
    return LockModel.steps(
        claims, claim -> new Step(claim.reads(), true), claim -> new Step(claim.reads(), false));
  }
}
