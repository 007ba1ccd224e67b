package io.amqplocks.spring.internal.setup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.amqplocks.admin.LockAdmin;
import io.amqplocks.admin.TokenSemaphoreAdmin;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.spring.LockHandle;
import io.amqplocks.spring.internal.catalog.LockCatalog;
import io.amqplocks.spring.internal.catalog.LockSettings;
import io.amqplocks.spring.internal.disabled.DisabledLock;
import io.amqplocks.spring.internal.naming.FamilyId;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletionException;
import java.util.stream.Stream;
import org.junit.jupiter.api.Named;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A semaphore that cannot be created since an administrator is at it is not a busy one, which a
 * caller may skip. The administration is a stand-in: the real one waits for half a minute before it
 * says so.
 */
class BusyAdministratorTest {

  private static final LockId BUSY = LockId.tokenSemaphore("busy");
  private static final LockId IDLE = LockId.tokenSemaphore("idle");

  private final List<String> created = new ArrayList<>();
  private final SemaphoreSetup setup;

  BusyAdministratorTest() {
    LockCatalog catalog = new LockCatalog(Duration.ofSeconds(1));
    catalog.add(LockSettings.configured(FamilyId.of(BUSY)).slots(4));
    catalog.add(LockSettings.configured(FamilyId.of(IDLE)).slots(4));
    setup =
        new SemaphoreSetup(
            answering(
                LockAdmin.class,
                (admin, of, name) -> administering(((LockId) name[0]).name().value())),
            catalog,
            Optional::empty,
            10);
  }

  private TokenSemaphoreAdmin administering(String name) {
    return answering(
        TokenSemaphoreAdmin.class,
        (proxy, method, arguments) -> {
          if (name.equals("busy")) {
            throw new LockException.AcquireTimeout("Another administrator is at work");
          }
          if (method.getName().equals("createIfAbsent")) {
            created.add(name);
          }
          return 4;
        });
  }

  private static <T> T answering(Class<T> type, InvocationHandler answers) {
    return type.cast(
        Proxy.newProxyInstance(
            BusyAdministratorTest.class.getClassLoader(), new Class<?>[] {type}, answers));
  }

  interface Call {
    void of(LockHandle lock) throws Throwable;
  }

  static Stream<Named<Call>> calls() {
    return Stream.of(
        Named.of("acquire", LockHandle::acquire),
        Named.of("tryAcquire", LockHandle::tryAcquire),
        Named.of("tryExecute", lock -> lock.tryExecute(() -> {})),
        Named.of(
            "acquireAsync",
            lock -> {
              try {
                lock.acquireAsync().join();
              } catch (CompletionException e) {
                throw Objects.requireNonNullElse(e.getCause(), e);
              }
            }));
  }

  @ParameterizedTest
  @MethodSource("calls")
  void theCallFailsAndIsNotBusy(Call call) {
    LockHandle lock =
        new LockHandle(new AutoCreatedLock(new DisabledLock(BUSY), setup), Duration.ZERO);
    assertThatExceptionOfType(LockException.Unanswered.class)
        .isThrownBy(() -> call.of(lock))
        .withMessageContaining("token semaphore 'busy' could not be created")
        .withMessageContaining("Another administrator is at work");
  }

  @Test
  void atStartupTheOthersAreCreated() {
    setup.ensureAll();
    assertThat(created).containsExactly("idle");
  }
}
