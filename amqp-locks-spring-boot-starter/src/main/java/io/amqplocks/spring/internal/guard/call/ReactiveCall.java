package io.amqplocks.spring.internal.guard.call;

import io.amqplocks.lock.LockException;
import io.amqplocks.spring.GuardedMethodException;
import io.amqplocks.spring.LockOperations;
import io.amqplocks.spring.internal.async.BackgroundExecutor;
import io.amqplocks.spring.internal.async.CallerClassLoader;
import io.amqplocks.spring.internal.async.ThrowingSupplier;
import io.amqplocks.spring.internal.guard.declared.ExecutionMode;
import io.amqplocks.spring.internal.guard.declared.SuspendingFunction;
import io.amqplocks.spring.internal.guard.declared.UnfinishedResult;
import io.amqplocks.spring.internal.guard.declared.UnguardableMethod;
import io.amqplocks.spring.internal.guard.method.GuardedMethod;
import io.amqplocks.spring.internal.guard.method.HeldLock;
import io.amqplocks.spring.internal.guard.method.MissedLock;
import io.amqplocks.spring.internal.nesting.LeaseScope;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.springframework.aop.ProxyMethodInvocation;
import org.springframework.aop.interceptor.ExposeInvocationInterceptor;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.util.context.Context;
import reactor.util.context.ContextView;

/**
 * A call of a method that works until the publisher ends that it returns: a call, and locks of its
 * own, for each subscription. Only this class needs Reactor.
 *
 * <p>Concurrency: Reactor's {@code usingWhen} ends a subscription once, whether it completes, fails
 * or is cancelled. What it ends is an {@link AsyncLeases}, which is there from the beginning, so
 * there is no moment at which an acquire is under way that nobody would end.
 */
public final class ReactiveCall {

  private final GuardedMethod method;
  private final ProxyMethodInvocation call;
  private final LockOperations locks;
  private final CallerClassLoader loader = CallerClassLoader.here();

  public ReactiveCall(GuardedMethod method, MethodInvocation call, LockOperations locks) {
    this.method = method;
    // Goes on after this thread has left the chain of interceptors.
    this.call = (ProxyMethodInvocation) ((ProxyMethodInvocation) call).invocableClone();
    this.locks = locks;
  }

  public Mono<Object> mono() {
    return Mono.usingWhen(
            leases(),
            leases ->
                acquired(leases)
                    .flatMap(
                        ready ->
                            watched(leases, Mono.from(work(leases)).map(this::finishedElement))
                                .contextWrite(context -> known(leases, context))),
            this::end)
        .onErrorResume(MissedLockException.class, e -> Mono.from(instead(e)));
  }

  public Flux<Object> flux() {
    return Flux.usingWhen(
            leases(),
            leases ->
                acquired(leases)
                    .flatMapMany(
                        ready ->
                            watched(leases, Flux.from(work(leases)))
                                .contextWrite(context -> known(leases, context))),
            this::end)
        .onErrorResume(MissedLockException.class, this::instead);
  }

  private Mono<AsyncLeases> leases() {
    return Mono.deferContextual(
        context ->
            Mono.just(new AsyncLeases(method, method.requests(call, locks), around(context))));
  }

  /** The leases of the calls that the subscriber is part of, or this thread. */
  private static @Nullable LeaseScope around(ContextView context) {
    return context.hasKey(LeaseScope.class)
        ? context.get(LeaseScope.class)
        : LeaseScope.ofStages(LeaseScope.current());
  }

  /** That context, from which publishers that are part of the work learn of its leases. */
  private static Context known(AsyncLeases leases, Context context) {
    LeaseScope scope = leases.scope();
    return scope == null ? context : context.put(LeaseScope.class, scope);
  }

  /**
   * An element when all locks are held. Its cancellation is for the end of the subscription to do.
   */
  private static Mono<Boolean> acquired(AsyncLeases leases) {
    return Mono.fromFuture(leases::acquire, true)
        .flatMap(
            missed ->
                missed.isPresent()
                    ? Mono.error(new MissedLockException(missed.get()))
                    : Mono.just(Boolean.TRUE));
  }

  private Publisher<Object> work(AsyncLeases leases) {
    return proceeding(
        () -> {
          if (!leases.bodyBegins()) {
            return cancelled();
          }
          Object result;
          boolean goesOn;
          try {
            leases.workBegins();
            MethodInvocation each = call.invocableClone(method.arguments(call, leases.held()));
            // Advice of AspectJ's style, which is behind this, looks for the call on its own
            // thread.
            result =
                LeaseScope.call(
                    leases.scope(), () -> ExposeInvocationInterceptor.INSTANCE.invoke(each));
          } finally {
            goesOn = leases.bodyEnded();
          }
          if (!goesOn) {
            return cancelled();
          }
          return method.mode() == ExecutionMode.SUSPENDING ? awaited(result) : result;
        });
  }

  /** For a subscriber that has left. */
  private static Publisher<Object> cancelled() {
    return Mono.error(new CancellationException("The call was cancelled"));
  }

  /**
   * What a suspending function brings. What is around its bean within the lock, such as a cache,
   * may have the plain result at once.
   */
  private static Mono<Object> awaited(@Nullable Object result) {
    return result instanceof Mono<?> mono ? mono.cast(Object.class) : Mono.justOrEmpty(result);
  }

  /** What the work brings, unless that is something whose work goes on. */
  private Object finishedElement(Object element) {
    Optional<Class<?>> unfinished =
        SuspendingFunction.isSuspended(element)
            ? Optional.of(element.getClass())
            : UnfinishedResult.in(element);
    if (unfinished.isPresent()) {
      throw new GuardedMethodException(
          method.where()
              + " cannot be guarded by a lock: "
              + UnguardableMethod.returning(unfinished.get()));
    }
    return element;
  }

  private Publisher<Object> instead(MissedLockException e) {
    return proceeding(() -> method.instead(e.missed, call));
  }

  @SuppressWarnings("unchecked") // what the method says that it returns
  private Publisher<Object> proceeding(ThrowingSupplier<@Nullable Object> step) {
    try {
      Object publisher = loader.call(step);
      return publisher == null ? Mono.empty() : (Publisher<Object>) publisher;
    } catch (Throwable e) {
      return Mono.error(e);
    }
  }

  private Mono<Object> watched(AsyncLeases leases, Mono<Object> work) {
    return method.watchesLoss()
        ? work.materialize()
            .flatMap(end -> unlessLost(leases, end.getThrowable()).thenReturn(end))
            .dematerialize()
        : work;
  }

  private Flux<Object> watched(AsyncLeases leases, Flux<Object> work) {
    return method.watchesLoss()
        ? work.onErrorResume(failure -> unlessLost(leases, failure).then(Mono.error(failure)))
            .concatWith(Mono.defer(() -> unlessLost(leases, null).then(Mono.empty())))
        : work;
  }

  private Mono<Void> unlessLost(AsyncLeases leases, @Nullable Throwable failure) {
    return inBackground(
        () -> {
          LockException loss = HeldLock.loss(leases.held(), failure, method.where());
          if (loss != null) {
            throw loss;
          }
        });
  }

  private Mono<Void> end(AsyncLeases leases) {
    return inBackground(leases::close);
  }

  /** What asks the broker must not block the thread that a signal comes on. */
  private static Mono<Void> inBackground(Runnable ending) {
    return Mono.fromFuture(
            () ->
                BackgroundExecutor.call(
                    () -> {
                      ending.run();
                      return Boolean.TRUE;
                    }),
            true)
        .then();
  }

  /** Carries the missed lock out of {@code usingWhen}, which gives back the other locks first. */
  private static final class MissedLockException extends RuntimeException {
    private static final long serialVersionUID = 1L;
    private final transient MissedLock missed;

    MissedLockException(MissedLock missed) {
      super(missed.failure().getMessage(), missed.failure(), false, false);
      this.missed = missed;
    }
  }
}
