package io.amqplocks.prover.check;

import static io.amqplocks.prover.check.Claims.MUTEX;
import static io.amqplocks.prover.check.Claims.held;
import static io.amqplocks.prover.check.Claims.reader;
import static io.amqplocks.prover.check.Claims.writer;
import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.prover.check.Linearizability.Operation;
import io.amqplocks.prover.check.Linearizability.Result;
import io.amqplocks.prover.history.Claim;
import io.amqplocks.prover.history.Interval;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import org.junit.jupiter.api.Test;

class LinearizabilityTest {

  /** A register: a write of a number, or a read with what it returned. */
  record Access(boolean isWrite, int value) {}

  private static Optional<Integer> register(Integer state, Access access) {
    if (access.isWrite()) {
      return Optional.of(access.value());
    }
    return state == access.value() ? Optional.of(state) : Optional.empty();
  }

  private static Operation<Access> write(int value, long called, long returned) {
    return new Operation<>(new Access(true, value), called, returned);
  }

  private static Operation<Access> read(int value, long called, long returned) {
    return new Operation<>(new Access(false, value), called, returned);
  }

  @SafeVarargs
  @SuppressWarnings("varargs")
  private static Result check(Operation<Access>... operations) {
    return Linearizability.check(LinearizabilityTest::register, 0, List.of(operations), 100_000);
  }

  @Test
  void aReadDuringAWriteMaySeeEither() {
    assertThat(check(write(1, 0, 10), read(0, 1, 9))).isEqualTo(Result.YES);
    assertThat(check(write(1, 0, 10), read(1, 1, 9))).isEqualTo(Result.YES);
  }

  @Test
  void aReadAfterAWriteMustSeeIt() {
    assertThat(check(write(1, 0, 10), read(0, 11, 12))).isEqualTo(Result.NO);
  }

  @Test
  void whatWasSeenCannotBeUnseen() {
    assertThat(check(write(1, 0, 100), read(1, 10, 20), read(0, 30, 40))).isEqualTo(Result.NO);
    assertThat(check(write(1, 0, 100), read(0, 10, 20), read(1, 30, 40))).isEqualTo(Result.YES);
  }

  @Test
  void anOperationThatNeverReturnedMayHaveTakenEffectOrNot() {
    long never = Long.MAX_VALUE;
    assertThat(check(write(1, 0, never), read(0, 10, 20))).isEqualTo(Result.YES);
    assertThat(check(write(1, 0, never), read(1, 10, 20))).isEqualTo(Result.YES);
    assertThat(check(write(1, 0, never), read(1, 10, 20), read(0, 30, 40))).isEqualTo(Result.NO);
  }

  @Test
  void aSearchThatIsGivenUpSaysNothing() {
    assertThat(
            Linearizability.check(
                LinearizabilityTest::register, 0, List.of(write(1, 0, 10), read(0, 11, 12)), 1))
        .isEqualTo(Result.UNKNOWN);
  }

  @Test
  void leasesOneAfterTheOtherFitAMutexAndOthersDoNot() {
    var good =
        LockModel.steps(List.of(held("a", MUTEX, 1, 0, 10, 20), held("b", MUTEX, 1, 5, 20, 30)));
    assertThat(Linearizability.check(new LockModel(1), 0, good, 1_000)).isEqualTo(Result.YES);
    var bad =
        LockModel.steps(List.of(held("a", MUTEX, 1, 0, 10, 40), held("b", MUTEX, 1, 5, 20, 30)));
    assertThat(Linearizability.check(new LockModel(1), 0, bad, 1_000)).isEqualTo(Result.NO);
    assertThat(Linearizability.check(new LockModel(2), 0, bad, 1_000)).isEqualTo(Result.YES);
  }

  @Test
  void aLeaseWhoseEndIsUnknownMayHaveEndedAtAnyTime() {
    Claim unknown =
        new Claim("a", MUTEX, 1, 1, false, false, 1, 1, 0, 0, 10, List.of(), Claim.End.UNKNOWN, 11);
    var steps = LockModel.steps(List.of(unknown, held("b", MUTEX, 1, 5, 20, 30)));
    assertThat(Linearizability.check(new LockModel(1), 0, steps, 1_000)).isEqualTo(Result.YES);
    Claim certain =
        new Claim(
            "a",
            MUTEX,
            1,
            1,
            false,
            false,
            1,
            1,
            0,
            0,
            10,
            List.of(new Interval(10, 25)),
            Claim.End.UNKNOWN,
            26);
    var broken = LockModel.steps(List.of(certain, held("b", MUTEX, 1, 5, 20, 30)));
    assertThat(Linearizability.check(new LockModel(1), 0, broken, 1_000)).isEqualTo(Result.NO);
  }

  private static Result readWrite(Claim... claims) {
    return Linearizability.check(
        new ReadWriteModel(), ReadWriteModel.FREE, ReadWriteModel.steps(List.of(claims)), 1_000);
  }

  @Test
  void leasesOfReadersTogetherAndOfWritersAloneFitAReadWriteLock() {
    assertThat(
            readWrite(
                writer("a", 0, 10, 20),
                reader("b", 5, 21, 50),
                reader("c", 5, 25, 40),
                reader("c", 5, 45, 60),
                writer("a", 22, 62, 70)))
        .isEqualTo(Result.YES);
    assertThat(readWrite(writer("a", 0, 10, 40), writer("b", 5, 20, 30))).isEqualTo(Result.NO);
    assertThat(readWrite(reader("a", 0, 10, 40), writer("b", 5, 20, 30))).isEqualTo(Result.NO);
    assertThat(readWrite(writer("a", 0, 10, 40), reader("b", 5, 20, 30))).isEqualTo(Result.NO);
    assertThat(readWrite(reader("a", 0, 10, 40), reader("b", 0, 10, 20), writer("c", 5, 25, 30)))
        .isEqualTo(Result.NO);
  }

  @Test
  void aReadWriteLockGivesBackOnlyWhatWasAcquired() {
    ReadWriteModel model = new ReadWriteModel();
    for (boolean reads : List.of(true, false)) {
      ReadWriteModel.Step release = new ReadWriteModel.Step(reads, false);
      assertThat(model.apply(ReadWriteModel.FREE, release)).isEmpty();
      assertThat(model.apply(reads ? ReadWriteModel.WRITTEN : 2, release)).isEmpty();
    }
  }

  /** Compared with all orders of short random histories. */
  @Test
  void agreesWithTryingAllOrders() {
    Random random = new Random(4);
    int no = 0;
    for (int i = 0; i < 3_000; i++) {
      List<Operation<Access>> operations = new ArrayList<>();
      for (int j = 0; j < 5; j++) {
        long called = random.nextInt(20);
        operations.add(
            new Operation<>(
                new Access(random.nextBoolean(), random.nextInt(2)),
                called,
                called + 1 + random.nextInt(10)));
      }
      boolean possible = anyOrder(operations, 0);
      no += possible ? 0 : 1;
      assertThat(Linearizability.check(LinearizabilityTest::register, 0, operations, 100_000))
          .isEqualTo(possible ? Result.YES : Result.NO);
    }
    assertThat(no).isBetween(300, 2_700);
  }

  private static boolean anyOrder(List<Operation<Access>> left, Integer state) {
    if (left.isEmpty()) {
      return true;
    }
    for (Operation<Access> first : left) {
      boolean mayBeFirst = left.stream().allMatch(other -> other.returned() >= first.called());
      Optional<Integer> after = register(state, first.what());
      if (mayBeFirst && after.isPresent()) {
        List<Operation<Access>> rest = new ArrayList<>(left);
        rest.remove(first);
        if (anyOrder(rest, after.get())) {
          return true;
        }
      }
    }
    return false;
  }
}
