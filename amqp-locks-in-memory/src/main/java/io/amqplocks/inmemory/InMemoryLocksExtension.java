package io.amqplocks.inmemory;

import io.amqplocks.AmqpLocks;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * An extension of JUnit 6, and of JUnit 5 from 5.10 on, that gives each test {@link InMemoryLocks}
 * of its own. It is registered by {@code @RegisterExtension} at a field, which may be static, or by
 * {@code @ExtendWith}. It needs {@code junit-jupiter-api} on the class path, which this module does
 * not bring.
 *
 * <p>A test has its locks from {@link #get()}, or as a parameter of type {@link InMemoryLocks} or
 * {@link AmqpLocks}. Methods with {@code @BeforeEach} and {@code @AfterEach} have the same. The
 * constructor can have them as a parameter since JUnit 5.12, if the extension is registered by a
 * static field or by {@code @ExtendWith} and each test has an instance of the class.
 *
 * <p>After the test and its {@code @AfterEach} methods the locks are closed. Calls that wait end
 * then. Leases that are still held have two more seconds of real time, for work that ends on other
 * threads. A test that leaves one held after that fails, and the failure names it and the thread
 * that acquired it. If the test has
 * failed before, that failure stays, and has this one as a suppressed exception. A lease that
 * was lost is not held. A test that closes the locks itself is not checked.
 */
public final class InMemoryLocksExtension
    implements BeforeEachCallback, AfterEachCallback, ParameterResolver {

  private static final ExtensionContext.Namespace NAMESPACE =
      ExtensionContext.Namespace.create(InMemoryLocksExtension.class);

  /** Only a test that fails for a lease waits for so long. */
  private static final Duration PATIENCE = Duration.ofSeconds(2);

  private final Supplier<InMemoryLocks> fresh;

  /** Those of the tests that run now: several, if the tests of a class run in parallel. */
  private final Set<InMemoryLocks> inUse = ConcurrentHashMap.newKeySet();

  /** Gives each test locks in real time, without listeners: {@link InMemoryLocks#create()}. */
  public InMemoryLocksExtension() {
    this(InMemoryLocks::create);
  }

  private InMemoryLocksExtension(Supplier<InMemoryLocks> fresh) {
    this.fresh = fresh;
  }

  /**
   * Gives each test what the supplier returns: locks with settings, or with semaphores that exist
   * already. It must return new locks each time.
   */
  public static InMemoryLocksExtension of(Supplier<InMemoryLocks> fresh) {
    return new InMemoryLocksExtension(fresh);
  }

  /**
   * The locks of the test that runs.
   *
   * @throws IllegalStateException if no test runs, or several at the same time; then each must take
   *     its locks as a parameter
   */
  public InMemoryLocks get() {
    List<InMemoryLocks> now = List.copyOf(inUse);
    if (now.size() != 1) {
      throw new IllegalStateException(
          now.isEmpty()
              ? "No test runs that has locks; call get() in a test, @BeforeEach or @AfterEach"
              : "%d tests run at once, each with locks of its own; take them as a parameter"
                  .formatted(now.size()));
    }
    return now.get(0);
  }

  @Override
  public void beforeEach(ExtensionContext context) {
    inUse.add(locksOf(context));
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    Class<?> type = parameter.getParameter().getType();
    return type == InMemoryLocks.class || type == AmqpLocks.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    if (context.getTestMethod().isEmpty()) {
      throw new ParameterResolutionException(
          "Each test has locks of its own, and %s is called outside of tests; take them in the test or in @BeforeEach"
              .formatted(parameter.getDeclaringExecutable().getName()));
    }
    return locksOf(context);
  }

  /** The constructor belongs to one test. Older versions of JUnit never call this. */
  @Override
  public ExtensionContextScope getTestInstantiationExtensionContextScope(ExtensionContext root) {
    return ExtensionContextScope.TEST_METHOD;
  }

  @Override
  public void afterEach(ExtensionContext context) {
    InMemoryLocks locks = store(context).remove(this, InMemoryLocks.class);
    // There are none if another extension failed before it was this one's turn.
    if (locks == null) {
      return;
    }
    inUse.remove(locks);
    String leaked = locks.end(PATIENCE);
    if (leaked.isEmpty()) {
      return;
    }
    AssertionError leak =
        new AssertionError(
            "The test is over, and these leases are still held:%s%n".formatted(leaked)
                + "Close each lease, as try-with-resources does, and wait for work on other threads");
    Optional<Throwable> failure = context.getExecutionException();
    if (failure.isEmpty()) {
      throw leak;
    }
    failure.get().addSuppressed(leak);
  }

  /** Created by whoever is first: the constructor's parameter, or the start of the test. */
  private InMemoryLocks locksOf(ExtensionContext context) {
    ExtensionContext.Store store = store(context);
    @Nullable InMemoryLocks locks = store.get(this, InMemoryLocks.class);
    if (locks == null) {
      locks = fresh.get();
      store.put(this, locks);
    }
    return locks;
  }

  private static ExtensionContext.Store store(ExtensionContext context) {
    return context.getStore(NAMESPACE);
  }
}
