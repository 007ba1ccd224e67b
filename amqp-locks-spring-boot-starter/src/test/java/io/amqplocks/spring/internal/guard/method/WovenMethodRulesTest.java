package io.amqplocks.spring.internal.guard.method;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.amqplocks.spring.GuardedMethodException;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.OnBusy;
import io.amqplocks.spring.OnUnavailable;
import io.amqplocks.spring.internal.catalog.LockCatalog;
import io.amqplocks.spring.internal.lifecycle.LossLog;
import java.time.Duration;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.context.annotation.AdviceMode;

/** Which methods may be guarded where they are woven, and no proxy has to reach them. */
class WovenMethodRulesTest {

  @SuppressWarnings({"UnusedMethod", "UnusedVariable"}) // by reflection
  static class Methods {
    @MutexGuarded(name = "m")
    private void ofPrivate() {}

    @MutexGuarded(name = "m")
    final void ofFinal() {}

    @MutexGuarded(name = "m", onBusy = OnBusy.FALLBACK, fallbackMethod = "other")
    static void ofStatic() {}

    @MutexGuarded(name = "m", onBusy = OnBusy.FALLBACK, fallbackMethod = "ofAnObject")
    static void ofStaticWithoutObject() {}

    static void other() {}

    void ofAnObject() {}

    @MutexGuarded(name = "m")
    private Stream<String> stream() {
      return Stream.of();
    }
  }

  private static GuardedMethod read(String name, AdviceMode mode) {
    return Arrays.stream(Methods.class.getDeclaredMethods())
        .filter(method -> method.getName().equals(name))
        .map(
            method ->
                new GuardedMethods(
                        new LockCatalog(Duration.ZERO),
                        text -> text,
                        null,
                        OnUnavailable.WAIT,
                        lock -> {},
                        new LossLog(),
                        mode)
                    .of(method, Methods.class))
        .findFirst()
        .orElseThrow();
  }

  @ParameterizedTest
  @ValueSource(strings = {"ofPrivate", "ofFinal", "ofStatic"})
  void allThatHaveCode(String name) {
    assertThat(read(name, AdviceMode.ASPECTJ).guards()).hasSize(1);
    assertThatExceptionOfType(GuardedMethodException.class)
        .isThrownBy(() -> read(name, AdviceMode.PROXY))
        .withMessageContaining("amqp-locks.annotations.mode=aspectj");
  }

  @Test
  void aStaticMethodNeedsAStaticFallback() {
    assertThatExceptionOfType(GuardedMethodException.class)
        .isThrownBy(() -> read("ofStaticWithoutObject", AdviceMode.ASPECTJ))
        .withMessageContaining(
            "no fallback method fits. Looked for, in Methods and above: static void");
  }

  @Test
  void noneWhoseWorkGoesOn() {
    assertThatExceptionOfType(GuardedMethodException.class)
        .isThrownBy(() -> read("stream", AdviceMode.ASPECTJ))
        .withMessageContaining("it returns Stream");
  }
}
