package io.amqplocks.prover.check;

import static io.amqplocks.prover.check.Claims.READ_WRITE;
import static io.amqplocks.prover.check.Claims.reader;
import static io.amqplocks.prover.check.Claims.writer;
import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.prover.check.Violation.Promise;
import io.amqplocks.prover.history.Claim;
import io.amqplocks.prover.history.Interval;
import java.util.List;
import org.junit.jupiter.api.Test;

class ExclusionCheckTest {

  private static List<Violation> check(Claim... claims) {
    return ExclusionCheck.check(READ_WRITE, List.of(claims));
  }

  @Test
  void anyNumberOfReadersIsLegal() {
    assertThat(
            check(
                reader("a", 0, 10, 50),
                reader("b", 0, 10, 50),
                reader("b", 0, 20, 40),
                reader("c", 0, 49, 60)))
        .isEmpty();
  }

  @Test
  void oneAfterTheOtherIsLegalWhicheverSideItHas() {
    assertThat(
            check(
                writer("a", 0, 10, 20),
                writer("b", 0, 20, 30),
                reader("a", 0, 30, 50),
                reader("b", 0, 35, 40),
                writer("b", 0, 50, 60)))
        .isEmpty();
  }

  @Test
  void twoWritersAreIllegal() {
    Claim first = writer("a", 0, 10, 21);
    Claim second = writer("b", 0, 20, 30);
    assertThat(check(second, first, reader("c", 0, 40, 50)))
        .singleElement()
        .satisfies(
            violation -> {
              assertThat(violation.promise()).isEqualTo(Promise.EXCLUSION);
              assertThat(violation.at()).isEqualTo(20);
              assertThat(violation.claims()).containsExactly(first, second);
              assertThat(violation.text()).contains("writer a #1.1, writer b #1.1");
            });
  }

  @Test
  void aReaderBesideAWriterIsIllegalWhoeverCameFirst() {
    Claim early = reader("a", 0, 10, 21);
    Claim writer = writer("b", 0, 20, 30);
    Claim late = reader("a", 0, 29, 50);
    assertThat(check(early, writer))
        .singleElement()
        .satisfies(violation -> assertThat(violation.at()).isEqualTo(20));
    assertThat(check(writer, late))
        .singleElement()
        .satisfies(violation -> assertThat(violation.at()).isEqualTo(29));
  }

  /** One thread that holds its own read lock counts as anybody. */
  @Test
  void theSameClientExcludesItself() {
    assertThat(check(reader("a", 0, 10, 30), writer("a", 0, 20, 40))).hasSize(1);
  }

  @Test
  void aWriterInAReadersTimeIsIllegalAndOneAfterAllOfThemIsNot() {
    Claim longest = reader("a", 0, 10, 100);
    Claim shorter = reader("b", 0, 20, 30);
    assertThat(check(longest, shorter, writer("c", 0, 40, 50))).hasSize(1);
    assertThat(check(longest, shorter, writer("c", 0, 100, 110))).isEmpty();
  }

  @Test
  void aTimeThatLastsIsReportedOnceAndTwoTimesTwice() {
    Claim writer = writer("a", 0, 10, 100);
    assertThat(check(writer, reader("b", 0, 20, 40), reader("c", 0, 30, 60))).hasSize(1);
    assertThat(check(writer, reader("b", 0, 20, 40), reader("c", 0, 41, 60))).hasSize(2);
  }

  @Test
  void whatAClientWasNotCertainOfDoesNotCount() {
    Claim writer = writer("a", 0, 10, 50).withoutCertainty(new Interval(15, 40));
    assertThat(writer.reads()).isFalse();
    assertThat(check(writer, reader("b", 0, 15, 40))).isEmpty();
    assertThat(check(writer, reader("b", 0, 15, 41))).hasSize(1);
    Claim reader = reader("b", 0, 10, 50).withoutCertainty(new Interval(15, 40));
    assertThat(reader.reads()).isTrue();
    assertThat(check(reader, writer("a", 0, 15, 40))).isEmpty();
    assertThat(check(reader, writer("a", 0, 15, 41))).hasSize(1);
  }
}
