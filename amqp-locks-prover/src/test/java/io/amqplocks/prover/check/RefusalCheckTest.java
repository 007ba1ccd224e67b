package io.amqplocks.prover.check;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.lock.LockException;
import io.amqplocks.prover.check.Violation.Promise;
import io.amqplocks.prover.driver.Command;
import io.amqplocks.prover.driver.Event;
import io.amqplocks.prover.driver.Event.What;
import io.amqplocks.prover.driver.Load;
import io.amqplocks.prover.driver.LockRef;
import io.amqplocks.prover.driver.LockRef.Kind;
import io.amqplocks.prover.history.History;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class RefusalCheckTest {

  private static final LockRef MUTEX = new LockRef(Kind.MUTEX, "m");

  private final History history = new History();

  private List<Violation> check(What what, String detail) {
    history.told("a", Command.work(1, MUTEX, new Load(1, false, false, 0, 0, 0), 0));
    history.did("a", new Event(1, 1, What.ASKS, 5, 5, 0, 0, null));
    history.did("a", new Event(1, 1, what, 5, 10, 0, 0, detail));
    return RefusalCheck.check(MUTEX, history);
  }

  static Stream<LockException> refusals() {
    return Stream.of(
        new LockException.Conflict("of another\nkind"),
        new LockException.NotFound("not created"),
        new LockException.Refused("no permission", null),
        new LockException.Unsupported("not here"));
  }

  @ParameterizedTest
  @MethodSource("refusals")
  void aRefusalIsAViolation(LockException refusal) {
    assertThat(check(What.FAILED, refusal.toString()))
        .singleElement()
        .satisfies(
            violation -> {
              assertThat(violation.promise()).isEqualTo(Promise.LIVENESS);
              assertThat(violation.at()).isEqualTo(10);
              assertThat(violation.text()).startsWith("a was refused").contains(refusal.toString());
            });
  }

  static Stream<LockException> others() {
    return Stream.of(
        new LockException.Unreachable("no connection", null),
        new LockException.Unexpected("no record yet", null),
        new LockException.FenceUnavailable("being made"),
        new LockException.AcquireTimeout("busy"));
  }

  @ParameterizedTest
  @MethodSource("others")
  void whatABusyMachineMayCauseIsNone(LockException failure) {
    assertThat(check(What.FAILED, failure.toString())).isEmpty();
  }

  /** A text of another lock's, or of another kind of event. */
  @Test
  void onlyWhatACallOfTheLockFailedWithCounts() {
    String detail = new LockException.NotFound("not created").toString();
    assertThat(check(What.LOST, detail)).isEmpty();
    assertThat(check(What.FAILED, detail)).isNotEmpty();
    assertThat(RefusalCheck.check(new LockRef(Kind.MUTEX, "n"), history)).isEmpty();
  }
}
