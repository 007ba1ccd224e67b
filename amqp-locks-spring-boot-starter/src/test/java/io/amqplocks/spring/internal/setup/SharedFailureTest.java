package io.amqplocks.spring.internal.setup;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.spring.LockConfigurationException;
import java.lang.reflect.Constructor;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A thread is told what another one met: the same kind of exception, so that it is treated alike.
 */
class SharedFailureTest {

  private static final LockId IMAGES = LockId.tokenSemaphore("images");

  static Stream<Class<?>> kinds() {
    return Arrays.stream(LockException.class.getPermittedSubclasses());
  }

  @ParameterizedTest
  @MethodSource("kinds")
  void everyKindStaysWhatItIsAndLeadsToTheFirst(Class<?> kind) throws Exception {
    Constructor<?> constructor = kind.getConstructors()[0];
    LockException first =
        (LockException)
            (constructor.getParameterCount() == 1
                ? constructor.newInstance("why")
                : constructor.newInstance("why", null));
    RuntimeException told = SharedFailure.inAnotherThread(IMAGES, first);
    assertThat(told).isNotSameAs(first).hasSameClassAs(first).hasMessage("why");
    assertThat(told.getCause() == null ? told.getSuppressed()[0] : told.getCause()).isSameAs(first);
    assertThat(SharedFailure.asItIs(IMAGES, first)).isSameAs(first);
  }

  @Test
  void soDoesAConfigurationThatIsWrong() {
    LockConfigurationException first = new LockConfigurationException("what", "remedy");
    assertThat(SharedFailure.inAnotherThread(IMAGES, first))
        .isInstanceOf(LockConfigurationException.class)
        .hasCause(first);
  }
}
