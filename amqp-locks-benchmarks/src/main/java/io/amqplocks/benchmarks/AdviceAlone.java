package io.amqplocks.benchmarks;

import io.amqplocks.spring.LockHandle;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.internal.catalog.LockCatalog;
import io.amqplocks.spring.internal.guard.GuardAdvisor;
import io.amqplocks.spring.internal.guard.method.GuardedMethods;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import org.aopalliance.intercept.MethodInterceptor;
import org.aopalliance.intercept.MethodInvocation;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.Warmup;
import org.springframework.aop.framework.ProxyFactory;

/**
 * What the advice of annotated methods costs without a broker, with the leases of locks that are
 * switched off: {@code bin/bench jmh AdviceAlone}.
 */
@State(Scope.Benchmark)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
@Warmup(iterations = 3, time = 1)
@Measurement(iterations = 5, time = 1)
@Fork(1)
public class AdviceAlone {

  /** As an application has it. */
  public static class Work {
    /** Without a key. */
    @MutexGuarded(name = "annotated")
    public long plain(long number) {
      return number;
    }

    /** With a key. */
    @MutexGuarded(name = "annotated", key = "#number")
    public long keyed(long number) {
      return number;
    }
  }

  private final LockTemplate template = LockTemplate.withoutLocks();
  private final LockHandle handle = template.mutex("annotated");
  private final Work guarded = guarded(template);
  private final Work proxied = proxied();

  private static Work guarded(LockTemplate template) {
    GuardedMethods methods =
        new GuardedMethods(new LockCatalog(Duration.ofSeconds(30)), text -> text, null);
    ProxyFactory factory = new ProxyFactory(new Work());
    factory.setProxyTargetClass(true);
    factory.addAdvisor(new GuardAdvisor(() -> methods, () -> template, 0));
    return (Work) factory.getProxy();
  }

  private static Work proxied() {
    ProxyFactory factory = new ProxyFactory(new Work());
    factory.setProxyTargetClass(true);
    factory.addAdvice((MethodInterceptor) MethodInvocation::proceed);
    return (Work) factory.getProxy();
  }

  /** The template alone. */
  @Benchmark
  public Long template() {
    return handle.execute(() -> 7L);
  }

  /** A proxy that does nothing. */
  @Benchmark
  public long proxy() {
    return proxied.plain(7);
  }

  /** An annotated method. */
  @Benchmark
  public long annotated() {
    return guarded.plain(7);
  }

  /** An annotated method whose call computes the key. */
  @Benchmark
  public long annotatedWithKey() {
    return guarded.keyed(7);
  }
}
