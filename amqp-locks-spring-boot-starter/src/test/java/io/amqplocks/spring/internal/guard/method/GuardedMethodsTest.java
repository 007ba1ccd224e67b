package io.amqplocks.spring.internal.guard.method;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.OnBusy;
import io.amqplocks.spring.OnLost;
import io.amqplocks.spring.OnUnavailable;
import io.amqplocks.spring.ReleaseAfter;
import io.amqplocks.spring.SemaphoreGuarded;
import io.amqplocks.spring.internal.catalog.LockCatalog;
import io.amqplocks.spring.internal.catalog.LockSettings;
import io.amqplocks.spring.internal.guard.declared.Permits;
import io.amqplocks.spring.internal.naming.FamilyId;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class GuardedMethodsTest {

  private static final FamilyId IMAGES = FamilyId.semaphore("images");

  private final LockCatalog catalog = new LockCatalog(Duration.ofSeconds(9));
  private final GuardedMethods methods =
      new GuardedMethods(catalog, text -> text.replace("${who}", "images"), null);

  static class Right {
    @SemaphoreGuarded(name = "${who}", slots = 5, maxWait = "1m")
    void semaphore() {}

    @MutexGuarded(name = "report")
    void mutex() {}

    @SemaphoreGuarded(name = "a")
    @MutexGuarded(name = "b")
    void both() {}
  }

  private List<Guard> of(Class<?> type, String name) {
    return Arrays.stream(type.getDeclaredMethods())
        .filter(method -> method.getName().equals(name))
        .findAny()
        .map(method -> methods.of(method, type).guards())
        .orElseThrow();
  }

  @Test
  void placeholdersAndWait() {
    assertThat(of(Right.class, "semaphore")).containsExactly(guard(IMAGES, Duration.ofMinutes(1)));
    assertThat(catalog.slots(catalog.semaphore("images"))).isEqualTo(5);
  }

  @Test
  void theConfiguredWaitIsTheDefault() {
    assertThat(of(Right.class, "mutex"))
        .containsExactly(guard(FamilyId.mutex("report"), Duration.ofSeconds(9)));
  }

  private static Guard guard(FamilyId lock, Duration maxWait) {
    return new Guard(
        lock,
        null,
        Permits.ONE,
        maxWait,
        Duration.ZERO,
        null,
        0,
        false,
        true,
        OnBusy.WAIT,
        OnUnavailable.WAIT,
        null,
        OnLost.NOTIFY,
        ReleaseAfter.METHOD,
        null);
  }

  @Test
  void annotationsThatContradictEachOther() {
    of(Right.class, "semaphore");
    assertThatIllegalStateException()
        .isThrownBy(() -> of(WrongMethods.class, "otherSlots"))
        .withMessageContaining("5 slots by " + Right.class.getName() + ".semaphore()")
        .withMessageContaining("3 slots by " + WrongMethods.class.getName() + ".otherSlots()")
        .withMessageContaining("amqp-locks.semaphores.images.slots");
  }

  @Test
  void aBadFallbackIsToldWhatWasFound() {
    assertThatIllegalStateException()
        .isThrownBy(() -> of(WrongMethods.class, "badFallback"))
        .withMessageContaining("Found: ")
        .withMessageContaining("java.lang.String " + WrongMethods.class.getName() + ".small(long)")
        .withMessageContaining("int " + WrongMethods.class.getName() + ".small(int)");
    assertThatIllegalStateException()
        .isThrownBy(() -> of(WrongMethods.class, "missingFallback"))
        .withMessageContaining("Found: no method called nowhere");
  }

  @Test
  void theRemedyIsAPropertyThatWorks() {
    FamilyId id = FamilyId.semaphore("my_images");
    catalog.add(LockSettings.annotated(id, "one method").slots(5));
    assertThatIllegalStateException()
        .isThrownBy(() -> catalog.add(LockSettings.annotated(id, "another").slots(3)))
        .withMessageContaining("decide by amqp-locks.semaphores[my_images].slots");
  }

  @Test
  void thePropertyOverridesAnnotations() {
    catalog.add(LockSettings.configured(IMAGES).slots(8));
    of(Right.class, "semaphore");
    of(WrongMethods.class, "otherSlots");
    assertThat(catalog.slots(catalog.semaphore("images"))).isEqualTo(8);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      quoteCharacter = '`',
      value = {
        "noPermit       | has a wrong lock annotation: permits must be 1 to 100, and not 0",
        "twoNumbers     | has a wrong lock annotation: permits = 2 and the permitsExpression '#size' both say",
        "unknownSize    | has a wrong lock annotation: its permitsExpression '#sise' names #sise, and there is only",
        "twoWeights     | has a wrong lock annotation: it wants the semaphore 's' by two keys",
        "negativeSlots  | has a wrong lock annotation: slots of semaphore 'images' must be 1 to",
        "emptyName      | has a wrong lock annotation: A lock name must not be empty",
        "unreadableWait | has a wrong lock annotation: maxWait = 'soon' is no duration: write for instance 500ms, 30s or 5m (mutex 'm')",
        "waitWithoutUnit | has a wrong lock annotation: maxWait = '300' has no unit: write 300s or 300ms (mutex 'm')",
        "holdWithoutUnit | has a wrong lock annotation: holdAtLeast = '30' has no unit: write 30s or 30ms (mutex 'm')",
        "limitWithoutUnit | has a wrong lock annotation: holdAtMost = '60' has no unit: write 60s or 60ms (mutex 'm')",
        "negativeHold   | has a wrong lock annotation: holdAtLeast must not be negative",
        "noTimeToHold   | has a wrong lock annotation: holdAtMost of mutex 'm' must be above zero, and not 0s",
        "negativeLimit  | has a wrong lock annotation: holdAtMost of semaphore 'images' must be above zero, and not -1m",
        "limitedTooSoon | has a wrong lock annotation: holdAtMost = 5s of mutex 'm' must be above holdAtLeast = 5s",
        "negativeWait   | has a wrong lock annotation: maxWait must not be negative",
        "hidden         | cannot be guarded by a lock: it is private",
        "ofTheClass     | cannot be guarded by a lock: it is static",
        "unproxied      | cannot be guarded by a lock: it is final",
        "waitsAndThrows | has a wrong lock annotation: onBusy = THROW does not wait: leave maxWait out",
        "primitive | has a wrong lock annotation: onBusy = SKIP has nothing to return for a primitive int: return Integer",
        "noFallback | has a wrong lock annotation: onBusy = FALLBACK needs a fallbackMethod",
        "noFallbackForOutages | has a wrong lock annotation: onUnavailable = FALLBACK needs a fallbackMethod",
        "fallbackForBusyOnly | has a wrong lock annotation: no fallback method fits",
        "primitiveInAnOutage | has a wrong lock annotation: onUnavailable = SKIP has nothing to return for a primitive int",
        "noToken | has a wrong lock annotation: onUnavailable = RUN has no lease and no fencing token for it",
        "fencedForNothing | has a wrong lock annotation: onUnavailable = RUN has no lease and no fencing token for it",
        "needlessFallback | has a wrong lock annotation: a fallbackMethod is for onBusy = FALLBACK",
        "missingFallback | has a wrong lock annotation: no fallback method fits",
        "badFallback | has a wrong lock annotation: no fallback method fits. Looked for, in WrongMethods and above: java.lang.String small(int)",
        "harmless | has a wrong lock annotation: no fallback method fits",
        "twice | has a wrong lock annotation: it wants the mutex 'm' twice",
        "twoPolicies | has a wrong lock annotation: it wants the mutex 'm' by two keys",
        "twoLosses | has a wrong lock annotation: it wants the mutex 'm' by two keys",
        "twoWaits | has a wrong lock annotation: it wants the mutex 'm' by two keys",
        "futureStream | cannot be guarded by a lock: its CompletableFuture brings a Stream",
        "whoseToken | has a wrong lock annotation: it has several locks",
        "twoTokens | has a wrong lock annotation: it has two parameters of type FencingToken",
        "nobodyToInterrupt | has a wrong lock annotation: onLost = INTERRUPT has no thread to interrupt",
        "noTransaction | has a wrong lock annotation: releaseAfter = TRANSACTION has no transaction to wait for where CompletableFuture is returned",
        "noTransactionEither | has a wrong lock annotation: releaseAfter = TRANSACTION has no transaction to wait for where Mono is returned",
        "noTransactionThere | has a wrong lock annotation: releaseAfter = TRANSACTION has no transaction to wait for on the thread of an @Async method",
        "twoReleases | has a wrong lock annotation: it wants the mutex 'm' by two keys",
        "unknownParameter | has a wrong lock annotation: its key '#order.id' names #order, and there is only #id, #p0, #a0",
        "unreadableKey | has a wrong lock annotation: its key '#id.' is no SpEL expression",
        "colon | has a wrong lock annotation: The name of a lock with keys must have no colon",
        "future         | cannot be guarded by a lock: it returns Future",
        "flow           | cannot be guarded by a lock: it returns Publisher"
      })
  void wrongOnesAreToldByTheirMethod(String name, String reason) {
    assertThatIllegalStateException()
        .isThrownBy(() -> of(WrongMethods.class, name))
        .withMessageContaining(WrongMethods.class.getName() + "." + name + "() " + reason);
  }
}
