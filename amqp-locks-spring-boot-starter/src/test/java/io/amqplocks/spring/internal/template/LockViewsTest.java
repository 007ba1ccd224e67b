package io.amqplocks.spring.internal.template;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.lock.AmqpLock;
import io.amqplocks.spring.internal.setup.AutoCreatedLock;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** A view of one of the starter's locks is that view of the lock behind it. */
class LockViewsTest {

  private final List<String> calls = new ArrayList<>();

  /** A lock that records its calls. Its views are the lock itself. */
  private AmqpLock recording() {
    return (AmqpLock)
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {AmqpLock.class},
            (proxy, method, arguments) -> {
              calls.add(method.getName() + (arguments == null ? "" : List.of(arguments)));
              return method.getReturnType() == AmqpLock.class ? proxy : Optional.empty();
            });
  }

  static Stream<Method> views() {
    return Arrays.stream(AmqpLock.class.getMethods())
        .filter(method -> method.getReturnType() == AmqpLock.class);
  }

  private AmqpLock view(Method view, AmqpLock lock) throws Exception {
    return (AmqpLock) view.invoke(lock, arguments(view));
  }

  private static Object[] arguments(Method view) {
    return Arrays.stream(view.getParameterTypes())
        .<Object>map(type -> type == int.class ? 3 : Duration.ofMinutes(3))
        .toArray();
  }

  private static String call(Method view) {
    return view.getName() + (view.getParameterCount() == 0 ? "" : List.of(arguments(view)));
  }

  @ParameterizedTest
  @MethodSource("views")
  void ofALockThatIsLookedUpLater(Method view) throws Exception {
    AmqpLock recording = recording();
    assertThat(view(view, new LazyLock(() -> recording, "owner")).tryAcquire()).isEmpty();
    assertThat(calls).containsExactly(call(view), "tryAcquire");
  }

  @SuppressWarnings("NullAway") // Nothing is acquired, so nothing is created.
  @ParameterizedTest
  @MethodSource("views")
  void ofALockThatIsCreatedAtFirstUse(Method view) throws Exception {
    assertThat(view(view, new AutoCreatedLock(recording(), null)))
        .isInstanceOf(AutoCreatedLock.class);
    assertThat(calls).containsExactly(call(view));
    AmqpLock failingFast = new AutoCreatedLock(recording(), null, true);
    assertThat(((AutoCreatedLock) view(view, failingFast)).failsFast()).isTrue();
  }
}
