package io.amqplocks.prover.check;

import io.amqplocks.prover.check.Linearizability.Operation;
import io.amqplocks.prover.history.Claim;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/**
 * What a lock of so many slots is meant to do: a lease takes slots that are free, and gives them
 * back.
 *
 * @param slots how many slots it has
 */
public record LockModel(int slots) implements Linearizability.Model<Integer, LockModel.Step> {

  /**
   * A step.
   *
   * @param permits how many slots are taken; negative if they are given back
   */
  public record Step(int permits) {}

  @Override
  public Optional<Integer> apply(Integer held, Step step) {
    int after = held + step.permits();
    return after > slots ? Optional.empty() : Optional.of(after);
  }

  /**
   * The steps of leases: each was asked for and acquired, and gave its slots back at some time
   * after it was last certain. If it is not known when a lease ended, that may be at any time.
   */
  public static List<Operation<Step>> steps(List<Claim> claims) {
    return steps(claims, claim -> new Step(claim.permits()), claim -> new Step(-claim.permits()));
  }

  /** The same, of a lock of another model. */
  static <S> List<Operation<S>> steps(
      List<Claim> claims, Function<Claim, S> acquire, Function<Claim, S> release) {
    List<Operation<S>> result = new ArrayList<>();
    for (Claim claim : claims) {
      result.add(new Operation<>(acquire.apply(claim), claim.asked(), claim.acquired()));
      int times = claim.certain().size();
      long called = times == 0 ? claim.acquired() : claim.certain().get(times - 1).to();
      long returned = claim.end() == Claim.End.RELEASED ? claim.ended() : Long.MAX_VALUE;
      result.add(new Operation<>(release.apply(claim), called, returned));
    }
    return result;
  }
}
