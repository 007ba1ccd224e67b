package io.amqplocks.spring.internal.setup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.amqplocks.admin.LockAdmin;
import io.amqplocks.admin.TokenSemaphoreAdmin;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.spring.internal.catalog.LockCatalog;
import io.amqplocks.spring.internal.catalog.LockSettings;
import io.amqplocks.spring.internal.naming.FamilyId;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Two threads want the same semaphore, and the first of them fails. */
class ConcurrentCreationTest {

  private static final LockId IMAGES = LockId.tokenSemaphore("images");

  private final CountDownLatch fail = new CountDownLatch(1);
  private final AtomicInteger attempts = new AtomicInteger();
  private final AtomicReference<@Nullable Throwable> toFirst = new AtomicReference<>();
  private final AtomicReference<@Nullable Throwable> toSecond = new AtomicReference<>();
  private final List<Thread> threads = new ArrayList<>();

  private static LockAdmin creating(Callable<Integer> slots) {
    TokenSemaphoreAdmin semaphore =
        answering(TokenSemaphoreAdmin.class, (proxy, method, arguments) -> slots.call());
    return answering(LockAdmin.class, (proxy, method, arguments) -> semaphore);
  }

  private static <T> T answering(Class<T> type, InvocationHandler answers) {
    return type.cast(
        Proxy.newProxyInstance(
            ConcurrentCreationTest.class.getClassLoader(), new Class<?>[] {type}, answers));
  }

  private int firstFails(LockException failure) {
    if (attempts.incrementAndGet() > 1) {
      return 4;
    }
    try {
      assertThat(fail.await(20, TimeUnit.SECONDS)).isTrue();
      throw failure;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new LockException.Interrupted("Interrupted");
    }
  }

  private static Thread ensuring(
      SemaphoreSetup setup, AtomicReference<@Nullable Throwable> outcome) {
    Thread thread = new Thread(() -> outcome.set(catchThrowable(() -> setup.ensure(IMAGES))));
    thread.setDaemon(true);
    thread.start();
    await()
        .atMost(Duration.ofSeconds(30))
        .until(() -> isWaiting(thread) || thread.getState() == Thread.State.TERMINATED);
    return thread;
  }

  private static boolean isWaiting(Thread thread) {
    return thread.getState() == Thread.State.WAITING
        || thread.getState() == Thread.State.TIMED_WAITING;
  }

  private SemaphoreSetup start(LockException failure) {
    LockCatalog catalog = new LockCatalog(Duration.ofSeconds(1));
    catalog.add(LockSettings.configured(FamilyId.of(IMAGES)).slots(4));
    SemaphoreSetup setup =
        new SemaphoreSetup(creating(() -> firstFails(failure)), catalog, Optional::empty, 10);
    threads.add(ensuring(setup, toFirst));
    // Or it might be the second.
    await().atMost(Duration.ofSeconds(30)).until(() -> attempts.get() == 1);
    threads.add(ensuring(setup, toSecond));
    return setup;
  }

  private void join() throws InterruptedException {
    for (Thread thread : threads) {
      thread.join(20_000);
      assertThat(thread.isAlive()).isFalse();
    }
  }

  @AfterEach
  void letGo() {
    fail.countDown();
  }

  @Test
  void anInterruptHitsNobodyElse() throws InterruptedException {
    SemaphoreSetup setup = start(new LockException.Unanswered("not thrown"));
    threads.get(0).interrupt();
    join();
    assertThat(toFirst.get()).isInstanceOf(LockException.Interrupted.class);
    assertThat(toSecond.get()).isNull();
    assertThat(setup.slots(IMAGES)).hasValue(4);
  }

  @Test
  void eachThreadIsToldByAnExceptionOfItsOwn() throws InterruptedException {
    LockException failure = new LockException.Unreachable("No broker", null);
    start(failure);
    fail.countDown();
    join();
    assertThat(toFirst.get()).isSameAs(failure);
    assertThat(toSecond.get())
        .isInstanceOf(LockException.Unreachable.class)
        .isNotSameAs(failure)
        .hasMessage("No broker")
        .hasCause(failure);
    assertThat(attempts).hasValue(1);
  }
}
