package io.amqplocks.spring.internal.async;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.context.ContextRegistry;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.MDC;

/** What work sees on the thread of a pool, and what it leaves there. */
class CallerContextTest {

  private static final String KEY = "caller-context-test";

  @AutoClose("shutdownNow")
  private final ExecutorService pool = Executors.newSingleThreadExecutor();

  @BeforeEach
  void register() {
    ContextRegistry.getInstance()
        .registerThreadLocalAccessor(
            KEY, () -> MDC.get(KEY), value -> MDC.put(KEY, value), () -> MDC.remove(KEY));
  }

  @AfterEach
  void remove() {
    ContextRegistry.getInstance().removeThreadLocalAccessor(KEY);
    MDC.remove(KEY);
  }

  /** The pool's threads belong to all callers: a value that stayed would be another one's. */
  @Test
  void anAccessorThatFailsLeavesNothingBehind() throws Exception {
    String failing = "z-fails-after-the-other";
    MDC.put(KEY, "caller");
    ContextRegistry.getInstance()
        .registerThreadLocalAccessor(
            failing,
            () -> "any",
            value -> {
              if ("caller".equals(MDC.get(KEY))) {
                throw new IllegalStateException("from the accessor");
              }
            },
            () -> {});
    try {
      CallerContext context = CallerContext.here();
      CompletableFuture<Throwable> thrown = new CompletableFuture<>();
      pool.execute(
          () -> thrown.complete(assertThatThrownBy(() -> context.call(() -> "never")).actual()));
      assertThat(thrown.get(30, TimeUnit.SECONDS)).hasMessage("from the accessor");
      assertThat(pool.submit(() -> MDC.get(KEY)).get(30, TimeUnit.SECONDS)).isNull();
    } finally {
      ContextRegistry.getInstance().removeThreadLocalAccessor(failing);
    }
  }

  /** What is seen there by that work, and then by others. */
  private String seenBy(CallerContext context, @Nullable Throwable thrown) throws Exception {
    CompletableFuture<@Nullable String> seen = new CompletableFuture<>();
    pool.execute(
        () -> {
          try {
            context.call(
                () -> {
                  seen.complete(MDC.get(KEY));
                  if (thrown != null) {
                    throw thrown;
                  }
                  return "";
                });
          } catch (Throwable e) {
            assertThat(e).isSameAs(thrown);
          }
        });
    String within = seen.get(30, TimeUnit.SECONDS);
    String after = pool.submit(() -> MDC.get(KEY)).get(30, TimeUnit.SECONDS);
    return within + ", then " + after;
  }

  private void poolHas(String value) throws Exception {
    pool.submit(() -> MDC.put(KEY, value)).get(30, TimeUnit.SECONDS);
  }

  @Test
  void theCallersValueIsThereAndThenNone() throws Exception {
    MDC.put(KEY, "mine");
    CallerContext context = CallerContext.here();
    MDC.put(KEY, "changed since");
    assertThat(seenBy(context, null)).isEqualTo("mine, then null");
  }

  @ParameterizedTest
  @ValueSource(classes = {IllegalStateException.class, Exception.class, AssertionError.class})
  void whateverIsThrown(Class<? extends Throwable> type) throws Exception {
    MDC.put(KEY, "mine");
    Throwable thrown = type.getConstructor().newInstance();
    poolHas("the pool's");
    assertThat(seenBy(CallerContext.here(), thrown)).isEqualTo("mine, then the pool's");
  }

  @Test
  void whatTheCallerDoesNotHaveIsNotThere() throws Exception {
    CallerContext context = CallerContext.here();
    poolHas("of somebody else");
    assertThat(seenBy(context, null)).isEqualTo("null, then of somebody else");
  }

  /** A value, as a security context or a transaction, that nobody registered. */
  @Test
  void noOtherThreadLocalIsCarried() throws Exception {
    MDC.put(KEY + "-unregistered", "mine");
    try {
      CallerContext context = CallerContext.here();
      assertThat(
              pool.submit(
                      () -> {
                        try {
                          return context.call(() -> String.valueOf(MDC.get(KEY + "-unregistered")));
                        } catch (Throwable e) {
                          throw new AssertionError(e);
                        }
                      })
                  .get(30, TimeUnit.SECONDS))
          .isEqualTo("null");
    } finally {
      MDC.remove(KEY + "-unregistered");
    }
  }
}
