package io.amqplocks.spring.internal.guard.call;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;

class InterruptionTest {

  @Test
  void aNoticeThatComesAtTheEndLeavesNoFlag() throws Exception {
    ExecutorService other = Executors.newSingleThreadExecutor();
    try {
      for (int i = 0; i < 20_000; i++) {
        Interruption interruption = new Interruption();
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
    Interruption interruption = new Interruption();
    interruption.interrupt();
    assertThat(Thread.currentThread().isInterrupted()).isTrue();
    interruption.end();
    assertThat(Thread.currentThread().isInterrupted()).isFalse();
  }

  @Test
  void leavesAloneWhatOthersSetBefore() {
    Interruption interruption = new Interruption();
    Thread.currentThread().interrupt();
    interruption.interrupt();
    interruption.end();
    assertThat(Thread.interrupted()).isTrue();
  }
}
