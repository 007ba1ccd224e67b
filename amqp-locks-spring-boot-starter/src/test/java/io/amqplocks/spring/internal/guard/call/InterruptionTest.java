package io.amqplocks.spring.internal.guard.call;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class InterruptionTest {

  @Test
  void aNoticeThatComesAtTheEndLeavesNoFlag() throws Exception {
    ExecutorService other = Executors.newSingleThreadExecutor();
    try {
      for (int i = 0; i < 20_000; i++) {
        Interruption interruption = Interruption.begin();
        Future<?> notice = other.submit(interruption::interrupt);
        if (i % 2 == 0) {
          Thread.onSpinWait();
        }
        interruption.end();
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
        notice.get();
        assertThat(Thread.currentThread().isInterrupted()).isFalse();
      }
    } finally {
      other.shutdownNow();
    }
  }

  @Test
  void interruptsWhileTheMethodRuns() {
    Interruption interruption = Interruption.begin();
    interruption.interrupt();
    assertThat(Thread.currentThread().isInterrupted()).isTrue();
    interruption.end();
    assertThat(Thread.currentThread().isInterrupted()).isFalse();
  }

  @Test
  void leavesAloneWhatOthersSetBefore() {
    Interruption interruption = Interruption.begin();
    Thread.currentThread().interrupt();
    interruption.interrupt();
    interruption.end();
    assertThat(Thread.interrupted()).isTrue();
  }

  /** The inner method takes the interrupt, whoever it was for, or clears it at its end. */
  @ParameterizedTest
  @CsvSource({"true, true", "true, false", "false, true", "false, false"})
  void theOuterMethodIsInterruptedWhenTheInnerOneHasEnded(boolean outerFirst, boolean taken) {
    Interruption outer = Interruption.begin();
    Interruption inner = Interruption.begin();
    (outerFirst ? outer : inner).interrupt();
    (outerFirst ? inner : outer).interrupt();
    assertThat(taken ? Thread.interrupted() : Thread.currentThread().isInterrupted()).isTrue();
    inner.end();
    assertThat(Thread.interrupted()).isTrue();
    // It knows, so the next one within it begins and ends without an interrupt.
    Interruption.begin().end();
    assertThat(Thread.currentThread().isInterrupted()).isFalse();
    outer.end();
    assertThat(Thread.currentThread().isInterrupted()).isFalse();
  }

  @Test
  void anInterruptThatTheOuterMethodHasNotTakenIsNotLostInTheInnerOne() {
    Interruption outer = Interruption.begin();
    outer.interrupt();
    Interruption inner = Interruption.begin();
    assertThat(Thread.interrupted()).isTrue();
    inner.end();
    assertThat(Thread.interrupted()).isTrue();
    outer.end();
  }

  @Test
  void anInterruptOfTheInnerMethodIsNotOfTheOuterOne() {
    Interruption outer = Interruption.begin();
    Interruption inner = Interruption.begin();
    inner.interrupt();
    inner.end();
    inner.interrupt();
    assertThat(Thread.currentThread().isInterrupted()).isFalse();
    outer.end();
  }
}
