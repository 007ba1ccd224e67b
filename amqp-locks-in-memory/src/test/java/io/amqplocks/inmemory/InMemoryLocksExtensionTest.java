package io.amqplocks.inmemory;

import static io.amqplocks.inmemory.InMemoryLocksAssertions.assertThat;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;
import static org.junit.jupiter.api.Assumptions.assumeTrue;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.parallel.Execution;
import org.junit.jupiter.api.parallel.ExecutionMode;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.junit.platform.engine.TestExecutionResult;
import org.junit.platform.testkit.engine.EngineTestKit;
import org.junit.platform.testkit.engine.Event;

/** What the extension makes of test classes, seen by running them; some of them are to fail. */
class InMemoryLocksExtensionTest {

  private static final Duration LONG = Duration.ofSeconds(30);

  /** How each test ended, by its name; for a class that did not begin, how the class ended. */
  private static Map<String, TestExecutionResult> run(Class<?> tests) {
    List<Event> finished =
        EngineTestKit.engine("junit-jupiter")
            .selectors(selectClass(tests))
            .configurationParameter("junit.jupiter.execution.parallel.enabled", "true")
            .configurationParameter("junit.jupiter.execution.parallel.config.strategy", "fixed")
            .configurationParameter(
                "junit.jupiter.execution.parallel.config.fixed.parallelism", "4")
            .execute()
            .allEvents()
            .finished()
            .list();
    Map<String, TestExecutionResult> results = new HashMap<>();
    for (Event event : finished) {
      results.put(
          event.getTestDescriptor().getDisplayName().replaceFirst("\\(.*", ""),
          event.getRequiredPayload(TestExecutionResult.class));
    }
    return results;
  }

  private static Throwable failure(Optional<TestExecutionResult> result) {
    return result.flatMap(TestExecutionResult::getThrowable).orElseThrow();
  }

  private static void assertSucceeded(Map<String, TestExecutionResult> results, String... tests) {
    assertThat(results).containsKeys(tests);
    assertThat(results.values())
        .allSatisfy(
            result ->
                assertThat(result.getStatus()).isEqualTo(TestExecutionResult.Status.SUCCESSFUL));
  }

  /** All that these tests were given, closed or not. */
  private static final Queue<AmqpLocks> given = new ConcurrentLinkedQueue<>();

  static class Using {

    @RegisterExtension static final InMemoryLocksExtension locks = new InMemoryLocksExtension();

    private final AmqpLocks first;

    Using(AmqpLocks first) {
      this.first = first;
    }

    @BeforeEach
    void isItsOwn(InMemoryLocks parameter) {
      assertThat(parameter).isSameAs(first).isSameAs(locks.get()).hasAcquiredExactly();
      assertThat(given).doesNotContain(parameter);
      given.add(parameter);
    }

    @AfterEach
    void isStillOpen(AmqpLocks parameter) throws InterruptedException {
      assertThat(parameter).isSameAs(first);
      parameter.mutex("after").acquire(LONG).close();
    }

    @Test
    void releases(InMemoryLocks parameter) throws InterruptedException {
      assertThat(parameter).isSameAs(first);
      first.mutex("orders").acquire(LONG).close();
    }

    @RepeatedTest(2)
    void repeats() throws InterruptedException {
      first.mutex("orders").acquire(LONG).close();
    }

    @ParameterizedTest
    @ValueSource(strings = {"orders", "images"})
    void takesArguments(String name, InMemoryLocks parameter) throws InterruptedException {
      parameter.mutex(name).acquire(LONG).close();
    }

    @Nested
    class Inner {
      @Test
      void isNested(AmqpLocks parameter) {
        assertThat(parameter).isSameAs(first);
      }
    }
  }

  @Test
  void eachTestHasLocksOfItsOwn() {
    assertSucceeded(run(Using.class), "releases", "repeats", "takesArguments", "isNested");
    assertThat(given).hasSize(6);
    assertThat(given)
        .allSatisfy(
            locks ->
                assertThat(locks.mutex("orders").acquireAsync(LONG))
                    .failsWithin(LONG)
                    .withThrowableThat()
                    .withCauseInstanceOf(LockException.Closed.class));
    assertThatIllegalStateException()
        .isThrownBy(Using.locks::get)
        .withMessage(
            "No test runs that has locks; call get() in a test, @BeforeEach or @AfterEach");
  }

  @Execution(ExecutionMode.CONCURRENT)
  static class Leaking {

    static final Duration PAST = Duration.ofHours(1);

    @RegisterExtension
    final InMemoryLocksExtension locks =
        InMemoryLocksExtension.of(() -> InMemoryLocks.builder().timeStandsStill().build());

    @Test
    void leaks() throws Exception {
      Lease forgotten = onThread("the first", () -> locks.get().mutex("orders").acquire(LONG));
      locks.get().advance(PAST);
      Lease second =
          onThread("the second", () -> locks.get().exclusiveQueueMutex("orders").acquire(LONG));
      assertThat(second.lock()).isNotEqualTo(forgotten.lock());
    }

    private static Lease onThread(String name, Callable<Lease> acquire) throws Exception {
      FutureTask<Lease> task = new FutureTask<>(acquire);
      new Thread(task, name).start();
      return task.get(30, TimeUnit.SECONDS);
    }

    @Test
    void leaksAndFails() throws InterruptedException {
      Lease forgotten = locks.get().mutex("orders").acquire(LONG);
      throw new IllegalStateException("the test's own, with " + forgotten.lock());
    }

    @Test
    void leaksAndIsAborted() throws InterruptedException {
      Lease forgotten = locks.get().mutex("orders").acquire(LONG);
      assumeTrue(forgotten.permits() == 2, "the test's own");
    }

    @Test
    void losesItsLease() throws InterruptedException {
      Lease lost = locks.get().mutex("orders").acquire(LONG);
      assertThat(locks.get().revoke(lost.lock(), "test")).isEqualTo(1);
    }

    @Test
    void leavesAWaiter() {
      AmqpLock orders = locks.get().mutex("orders");
      InMemoryLocks.Occupation elsewhere = locks.get().busy(orders.id());
      CompletableFuture<Lease> waiter = orders.acquireAsync(LONG);
      assertThat(elsewhere).isNotNull();
      assertThat(waiter).isNotDone();
    }
  }

  @Test
  void aTestThatLeavesALeaseFails() {
    Map<String, TestExecutionResult> results = run(Leaking.class);
    assertThat(failure(Optional.ofNullable(results.get("leaks"))))
        .isExactlyInstanceOf(AssertionError.class)
        .hasMessage(
            """
            The test is over, and these leases are still held:
              slot 1 of mutex 'orders', HELD for PT1H, acquired by thread 'the first'
              slot 1 of exclusive-queue mutex 'orders', HELD for PT0S, acquired by thread 'the second'
            Close each lease, as try-with-resources does, and wait for work on other threads""");
    assertThat(results)
        .extractingByKeys("losesItsLease", "leavesAWaiter")
        .containsOnly(TestExecutionResult.successful());
  }

  @Test
  void aTestsOwnFailureStays() {
    Map<String, TestExecutionResult> results = run(Leaking.class);
    assertThat(failure(Optional.ofNullable(results.get("leaksAndFails"))))
        .isExactlyInstanceOf(IllegalStateException.class)
        .hasMessage("the test's own, with mutex 'orders'")
        .satisfies(InMemoryLocksExtensionTest::hasTheLeakSuppressed);
    TestExecutionResult aborted = results.get("leaksAndIsAborted");
    assertThat(failure(Optional.ofNullable(aborted)))
        .hasMessageContaining("the test's own")
        .satisfies(InMemoryLocksExtensionTest::hasTheLeakSuppressed);
    assertThat(aborted)
        .extracting(TestExecutionResult::getStatus)
        .isEqualTo(TestExecutionResult.Status.ABORTED);
  }

  private static void hasTheLeakSuppressed(Throwable failure) {
    assertThat(failure.getSuppressed())
        .singleElement()
        .asInstanceOf(InstanceOfAssertFactories.THROWABLE)
        .hasMessageContaining("slot 1 of mutex 'orders', HELD for PT0S");
  }

  @ExtendWith(InMemoryLocksExtension.class)
  static class Background {

    private static volatile CompletableFuture<Duration> took = new CompletableFuture<>();

    @Test
    void endsOnAnotherThread(AmqpLocks locks) throws InterruptedException {
      Lease lease = locks.mutex("orders").acquire(LONG);
      long begin = System.nanoTime();
      took =
          CompletableFuture.supplyAsync(
              () -> {
                lease.close();
                return Duration.ofNanos(System.nanoTime() - begin);
              },
              CompletableFuture.delayedExecutor(50, TimeUnit.MILLISECONDS));
    }
  }

  @Test
  void workThatEndsOnAnotherThreadHasABitOfTime() throws Exception {
    Duration most = Duration.ofSeconds(2);
    Map<String, TestExecutionResult> results = run(Background.class);
    // On a busy machine the other thread may be later than that.
    for (int again = 0;
        again < 3 && Background.took.get(30, TimeUnit.SECONDS).compareTo(most) >= 0;
        again++) {
      results = run(Background.class);
    }
    assertSucceeded(results, "endsOnAnotherThread");
  }

  @Execution(ExecutionMode.CONCURRENT)
  static class Parallel {

    private static final CyclicBarrier together = new CyclicBarrier(2);

    @RegisterExtension static final InMemoryLocksExtension locks = new InMemoryLocksExtension();

    @Test
    void one(InMemoryLocks parameter) throws Exception {
      asksWhileTheOtherRuns(parameter);
    }

    @Test
    void other(InMemoryLocks parameter) throws Exception {
      asksWhileTheOtherRuns(parameter);
    }

    private static void asksWhileTheOtherRuns(InMemoryLocks parameter) throws Exception {
      int unused = together.await(30, TimeUnit.SECONDS);
      assertThatIllegalStateException()
          .isThrownBy(locks::get)
          .withMessage("2 tests run at once, each with locks of its own; take them as a parameter");
      parameter.mutex("orders").acquire(LONG).close();
      int unusedToo = together.await(30, TimeUnit.SECONDS);
      assertThat(parameter).hasAcquiredExactly(LockId.mutex("orders"));
    }
  }

  @Test
  void testsThatRunAtOnceMustNotAskForTheOnlyLocks() {
    assertSucceeded(run(Parallel.class), "one", "other");
  }

  @ExtendWith(InMemoryLocksExtension.class)
  static class BeforeAllTests {

    @BeforeAll
    static void setUp(AmqpLocks locks) {
      assertThat(locks).isNull();
    }

    @Test
    void neverRuns() {}
  }

  @ExtendWith(InMemoryLocksExtension.class)
  @TestInstance(TestInstance.Lifecycle.PER_CLASS)
  static class OneInstance {

    OneInstance(AmqpLocks locks) {
      assertThat(locks).isNull();
    }

    @Test
    void neverRuns() {}
  }

  @ParameterizedTest
  @ValueSource(classes = {BeforeAllTests.class, OneInstance.class})
  void thereAreNoLocksOutsideOfTests(Class<?> tests) {
    Map<String, TestExecutionResult> results = run(tests);
    assertThat(results).doesNotContainKey("neverRuns");
    assertThat(results.values())
        .flatExtracting(result -> result.getThrowable().stream().toList())
        .singleElement()
        .asInstanceOf(InstanceOfAssertFactories.THROWABLE)
        .hasMessageContaining("Each test has locks of its own")
        .hasMessageContaining("take them in the test or in @BeforeEach");
  }
}
