package io.amqplocks.internal.lease;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.internal.lease.LeaseClock.Certainty;
import io.amqplocks.lock.LeaseState;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("trap-5")
class CertaintyTest {

  private final Certainty certainty = Certainty.of(Duration.ofSeconds(10));

  private LeaseState after(Duration silence) {
    return certainty.after(silence.toNanos(), silence.toNanos());
  }

  @Test
  void aLeaseThatWasNotAskedForIsNotLostWhileTheBrokerAnswers() {
    long unverified = Duration.ofMinutes(1).toNanos();
    assertThat(certainty.after(unverified, Duration.ofSeconds(29).toNanos()))
        .isEqualTo(LeaseState.UNCERTAIN);
    assertThat(certainty.after(unverified, Duration.ofSeconds(30).toNanos()))
        .isEqualTo(LeaseState.LOST);
  }

  @Tag("defect-S7")
  @Test
  void aShorterSilenceEndsItWhereThatIsAskedFor() {
    Certainty quick = Certainty.of(Duration.ofSeconds(10), Duration.ofSeconds(2));
    long justVerified = 0;
    assertThat(quick.after(justVerified, Duration.ofMillis(1_999).toNanos()))
        .isEqualTo(LeaseState.HELD);
    assertThat(quick.after(justVerified, Duration.ofSeconds(2).toNanos()))
        .isEqualTo(LeaseState.UNCERTAIN);
    assertThat(quick.after(Duration.ofSeconds(18).toNanos(), 0)).isEqualTo(LeaseState.UNCERTAIN);
  }

  @Test
  void endsBeforeTheBrokerMayDropAndIsGivenUpWhenItMustHave() {
    assertThat(after(Duration.ZERO)).isEqualTo(LeaseState.HELD);
    assertThat(after(Duration.ofMillis(17_499))).isEqualTo(LeaseState.HELD);
    assertThat(after(Duration.ofMillis(17_500))).isEqualTo(LeaseState.UNCERTAIN);
    assertThat(after(Duration.ofMillis(29_999))).isEqualTo(LeaseState.UNCERTAIN);
    assertThat(after(Duration.ofSeconds(30))).isEqualTo(LeaseState.LOST);
    assertThat(after(Duration.ofDays(1))).isEqualTo(LeaseState.LOST);
  }
}
