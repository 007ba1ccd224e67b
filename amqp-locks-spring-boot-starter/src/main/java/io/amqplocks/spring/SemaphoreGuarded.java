package io.amqplocks.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Repeatable;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Runs the method only while it holds a slot of a semaphore that all processes share: at most as
 * many calls run at once as there are slots, in the whole system. A call that weighs more can hold
 * several {@link #permits}. What it holds is released when the work ends, however it ends.
 *
 * <pre>{@code
 * @SemaphoreGuarded(name = "images", slots = 5)                            // waits
 * void upload(Image image)
 *
 * @SemaphoreGuarded(name = "images", onBusy = OnBusy.FALLBACK, fallbackMethod = "later")
 * Receipt accept(Image image)
 *
 * @SemaphoreGuarded(name = "customer", key = "#order.customer", slots = 2) // two for each customer
 * Mono<Receipt> place(Order order)
 *
 * @SemaphoreGuarded(name = "images", permits = 3)                          // weighs three uploads
 * void uploadAll(Album album)
 * }</pre>
 *
 * <h2>Placement</h2>
 *
 * The annotation can be put on a method; on a class, where it applies to all public methods,
 * inherited ones included; on an interface or one of its methods; and on another annotation, whose
 * attributes can be {@code @AliasFor} these. It is repeatable. The nearest one counts: annotations
 * of this type on a method replace those on its class.
 *
 * <p>A bean that is made from an interface is guarded by the annotations of that interface: clients
 * of HTTP interfaces ({@code @HttpExchange}) and of Feign, repositories of Spring Data, mappers of
 * MyBatis, other JDK proxies, and lambdas. On such an interface itself, the annotation applies to
 * the methods that it inherits too, as to those of {@code CrudRepository}. A fallback is a default
 * method of it.
 *
 * <p>A method with several locks acquires them in a fixed order on which all processes agree:
 * mutexes, then read-write locks, then semaphores, and each of these by name and key. So two
 * methods that name the same locks in different orders do not deadlock. Two equal keys in one call
 * are one lock. Therefore the annotations of one name on a method must agree on permits and times,
 * and on what to do when the lock is busy, unavailable or lost.
 *
 * <p>The annotation works on calls through the Spring proxy, so not on calls from within the same
 * object: a warning at startup names those that the bytecode shows. A private, static or final
 * method is an error at startup, and so is a package-private one that a class of another package
 * inherits. With {@code amqp-locks.annotations.mode=aspectj} the lock is woven
 * into the method itself, and all of these are guarded: see {@link
 * io.amqplocks.spring.aspectj.LockAspect}.
 *
 * <h2>Nested calls</h2>
 *
 * A guarded call that is part of another one of the same lock joins its lease: it acquires nothing,
 * and only the outer call releases. Which calls are part of it depends on what the outer method
 * returns:
 *
 * <ul>
 *   <li>A plain method: plain calls on its thread, until it returns. A call that returns a stage, a
 *       {@code Mono} or a {@code Flux} does not join. It waits until the outer call has ended, so
 *       do not wait for its result before that.
 *   <li>A method that returns a stage: calls on the thread of its body, until the body returns.
 *       Calls that return stages join too, and may go on after it. What is chained to its stage
 *       does not join.
 *   <li>A method that returns a {@code Mono} or a {@code Flux}: a {@code Mono} or {@code Flux} that
 *       is part of it, and plain calls in the method's body. Plain calls in its operators do not
 *       join.
 *   <li>With {@link #releaseAfter} = {@link ReleaseAfter#TRANSACTION}: plain calls on the same
 *       thread, until the transaction completes.
 * </ul>
 *
 * <p>Other threads do not join, even if the outer method started them. Several stages or publishers
 * that join one lease share its permits: under a mutex, they work one at a time. The lease is
 * released when the outer call and all that joined it have ended. An {@code @Async} method that
 * returns a stage, but runs on the very thread of a plain method that holds the lock, throws {@link
 * io.amqplocks.lock.LockException.Invalid}: it would wait for itself.
 *
 * <p>A call for more {@link #permits} than the outer call has, or for a fencing token that the
 * outer call does not have, throws {@link io.amqplocks.lock.LockException.Invalid}. If the outer
 * lease is lost, the call throws {@link io.amqplocks.lock.LockException.Lost}. While it runs, its
 * {@link #onLost} applies to the outer lease.
 *
 * <p>Of two {@link #holdAtLeast}, the one that ends later counts. If that of a nested call could
 * not end before {@link #holdAtMost} of the outer call is over, the nested call throws {@link
 * io.amqplocks.lock.LockException.Invalid}. A {@link #holdAtMost} of a nested call does not count;
 * the outer call's does.
 *
 * <h2>Beans that Spring creates and destroys</h2>
 *
 * When Spring creates or destroys a bean, it calls methods of the object itself. A proxy does not
 * guard them, and an annotation on one is an error before it is called: {@code @PostConstruct},
 * {@code afterPropertiesSet}, an init method, {@code @Autowired} methods, {@code @PreDestroy},
 * {@code destroy} and a destroy method. So a migration is the work of an {@code ApplicationRunner},
 * or of an event listener:
 *
 * <pre>{@code
 * @MutexGuarded(name = "migration", maxWait = "10m")
 * @EventListener(ApplicationReadyEvent.class)
 * void migrate()
 * }</pre>
 *
 * Every process calls it, one after the other, so it has to see what has been done already. If it
 * must be done before other beans are there, call {@link LockTemplate} in the {@code
 * @PostConstruct} method. Work at the end goes to a listener of {@code ContextClosedEvent}.
 *
 * <h2>How long the lock is held</h2>
 *
 * <ul>
 *   <li>A plain method holds it until it has returned or thrown.
 *   <li>A method that returns a {@code CompletableFuture} or a {@code CompletionStage}: the call
 *       returns at once, and no thread waits. When the lock is acquired, the method runs on a
 *       thread of the library. The lock is held until the method's stage completes. A caller that
 *       completes the returned future itself, for example by cancelling it or by {@code orTimeout},
 *       ends the waiting. If the method has begun by then, it keeps the lock until its stage has
 *       completed, because cancelling a {@code CompletableFuture} does not stop the work that
 *       completes it. A stage whose class has a {@code cancel} method of its own is cancelled, and
 *       trusted to stop its work; the futures of {@code Mono.toFuture()} and of the JDK's HTTP
 *       client are such stages. A stage that never completes keeps the lock for ever, so give it a
 *       timeout of its own.
 *   <li>A method that returns a {@code Mono} or a {@code Flux}: nothing happens before somebody
 *       subscribes. Each subscription acquires a lease of its own, without blocking, and then calls
 *       the method. The lease is held until the returned publisher completes, fails or is
 *       cancelled; cancelling it is trusted to stop its work. The subscriber sees the end once the
 *       lock has been released.
 *   <li>A {@code suspend} function of Kotlin is guarded like a method that returns a {@code Mono}.
 *       If its caller is cancelled, the lock is released at once, also if the function still runs.
 *       Spring needs {@code kotlin-reflect} and {@code kotlinx-coroutines-reactor} for it. Proxies
 *       guard it, AspectJ does not.
 *   <li>{@code Future}, {@code Callable}, {@code Stream}, other reactive types, Kotlin's {@code
 *       Flow} and Spring MVC's asynchronous results are refused, because their work would go on
 *       without the lock. They are refused at startup if the declaration shows the type, and
 *       otherwise when the method returns one.
 * </ul>
 *
 * <p>A method that returns a {@code CompletableFuture}, {@code Mono} or {@code Flux} runs with the
 * caller's context class loader, but mostly on another thread. If Micrometer's {@code
 * context-propagation} is on the class path, a method that returns a {@code CompletableFuture} also
 * runs with the caller's thread-locals that have an accessor there, such as the current
 * observation. A {@code Mono} or {@code Flux} has the subscriber's Reactor context; Reactor makes
 * thread-locals of it where {@code Hooks.enableAutomaticContextPropagation()} says so. Other
 * thread-locals, such as a transaction, are not there. Pass such things as arguments.
 *
 * <h2>Other annotations</h2>
 *
 * The lock is outside {@code @Transactional}, so it is released after the commit. In a transaction
 * of the caller it is released before that commits, unless {@link #releaseAfter} says otherwise. It
 * is outside {@code @Cacheable} too: a call takes the lock even if its result is in the cache. It
 * is inside {@code @Async}: the executor's thread waits for the lock, and holds it during the work.
 * It is inside {@code @Retryable}: each attempt acquires the lock anew, it is not held during the
 * pauses, and an attempt that found it busy has failed like any other. {@code @Scheduled} calls the
 * proxy, as all callers do. The property {@code amqp-locks.annotations.order} moves the lock among
 * the advice that has an order, such as transactions.
 *
 * <h2>What a call throws</h2>
 *
 * A call throws what the method throws. In the following cases the method did not run: {@link
 * io.amqplocks.lock.LockException.AcquireTimeout} if the lock was busy for too long, unless {@link
 * #onBusy} says otherwise; {@link io.amqplocks.lock.LockException.Interrupted} if the thread was
 * interrupted while it waited; another {@link io.amqplocks.lock.LockException} if the broker is
 * broken, as {@link #onUnavailable} says. With another {@link #onLost} than {@code NOTIFY}, the
 * method may have run, and its result is withheld: {@link io.amqplocks.lock.LockException.Lost} if
 * the lease was lost, {@link io.amqplocks.lock.LockException.Unconfirmed} if the broker did not
 * confirm it. {@code Lost} is also thrown, whatever {@link #onLost} says, if one of several locks
 * was lost during the wait for another one; then the method did not run. Futures and publishers
 * fail with the same exceptions, and the call that returns them throws nothing.
 */
// More than 300 lines: most of them are the contract.
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target({ElementType.METHOD, ElementType.TYPE})
@Repeatable(SemaphoreGuarded.List.class)
public @interface SemaphoreGuarded {

  /**
   * The semaphore's name, the same in all processes. Placeholders are resolved. In the names of
   * properties, put a name with characters other than lower-case letters, digits and {@code -} in
   * brackets, as in {@code amqp-locks.semaphores[my_images].slots}. Without the brackets, Spring
   * Boot drops these characters.
   */
  String name();

  /**
   * A SpEL expression that picks one of many semaphores of this name, for example {@code
   * #order.customer}. It can use parameters ({@code #order}, {@code #p0}, {@code #a0}), beans
   * ({@code @tenants.current()}) and {@code #root} with {@code method}, {@code args}, {@code
   * target} and {@code targetClass}. Startup fails if it names a parameter that does not exist. The
   * default, an empty expression, means one semaphore for all calls.
   *
   * <p>Properties and metrics go by the name. Each key has a semaphore of its own, called {@code
   * name:key}, with the slots of the name; {@code LockTemplate.semaphore("customer", "42")} is the
   * same one. A key that is long or has control characters is replaced by its hash. A {@code name}
   * that has keys must not have a colon. A key that is null, blank, or of a type without a {@code
   * toString()} of its own is a {@link io.amqplocks.lock.LockException.Invalid}. Lists, arrays and
   * sorted sets can be keys, by their elements in order. Other sets and maps cannot, since equal
   * ones need not have the same order.
   *
   * <p><strong>Each key costs the broker some durable queues, and they stay.</strong> The semaphore
   * of a key is created at the first use of the key, and nothing removes it automatically. So keys
   * must be few: tenants, not orders. There are three ways to have fewer. Reduce many keys to a
   * few, as in {@code T(Math).floorMod(#order.id.hashCode(), 64)}. If one call at a time is enough,
   * use {@link MutexGuarded}, which leaves nothing behind. Or {@linkplain
   * io.amqplocks.admin.LockAdmin#sweepKeys sweep} the keys of tokens that nobody has used for a
   * time; they are created again at their next use.
   */
  String key() default "";

  /**
   * The number of slots that the semaphore is created with, if it does not exist yet. If it exists,
   * its own number counts. The property {@code amqp-locks.semaphores.<name>.slots} overrides this
   * number. The default, 0, leaves it to that property or to the creator of the semaphore. It is
   * an error at startup if annotations give one semaphore different numbers. It is one too if
   * nothing gives a number to a semaphore without a key, and the broker does not know the
   * semaphore.
   */
  int slots() default 0;

  /**
   * How many slots a call holds at once: all of them or none. It is for calls that weigh more than
   * others. A call that waits keeps the slots that it has received, so it is not starved by calls
   * for fewer; only one such call collects at a time. More than the semaphore has is an error at
   * startup, as far as its slots are known then, and otherwise a {@link
   * io.amqplocks.lock.LockException.Conflict} in the call. More than {@value
   * io.amqplocks.lock.AmqpLock#MAX_PERMITS} is always an error at startup.
   */
  int permits() default 1;

  /**
   * A SpEL expression that computes the number of permits from the call, for example {@code
   * #album.images.size()}, instead of {@link #permits}. It can use what {@link #key} can. Its value
   * must be a whole number from 1 to {@value io.amqplocks.lock.AmqpLock#MAX_PERMITS}; else the call
   * fails with a {@link io.amqplocks.lock.LockException.Invalid}. To limit it to the slots that
   * there are, use {@code T(Math).min(#album.images.size(), 5)}.
   */
  String permitsExpression() default "";

  /**
   * How long to wait for a slot, for example {@code 30s}, {@code 500ms} or {@code PT1M}; {@code 0s}
   * does not wait. The wait starts anew for each lock of a method. Placeholders are resolved. If
   * this is empty, which is the default, {@code amqp-locks.semaphores.<name>.wait} counts, or else
   * {@code amqp-locks.default-wait}; with THROW, SKIP or FALLBACK as {@link #onBusy}, the call does
   * not wait.
   */
  String maxWait() default "";

  /**
   * How long the slot is held at least, for example {@code 10s}, counted from when it was acquired:
   * see {@link MutexGuarded#holdAtLeast}. It limits how often the method is called, too: with five
   * slots of one second each, five times a second.
   */
  String holdAtLeast() default "";

  /**
   * How long a call holds its slots at most, for example {@code 10m}, counted from when they were
   * acquired: see {@link MutexGuarded#holdAtMost}. It does not stop the method.
   */
  String holdAtMost() default "";

  /** What to do when no slot is free. */
  OnBusy onBusy() default OnBusy.WAIT;

  /**
   * What to do when the broker is unavailable, so that nobody can say whether the lock is free. By
   * default, {@code amqp-locks.annotations.on-unavailable} decides, and else the call waits for the
   * broker as for a busy lock.
   */
  OnUnavailable onUnavailable() default OnUnavailable.DEFAULT;

  /**
   * For {@link OnBusy#FALLBACK} and {@link OnUnavailable#FALLBACK}, the name of the method to call
   * instead. It is of the same class, and has the same parameters and optionally a last one for the
   * exception. That is a {@link io.amqplocks.lock.LockException.AcquireTimeout} if the lock was
   * busy. A method that serves both takes a {@link io.amqplocks.lock.LockException}, and can tell
   * them apart by {@link io.amqplocks.lock.LockException#isOutage() isOutage()}. Its result must be
   * one that the guarded method could return. It can be private or static. It is called on the
   * object itself, without the locks and without the effect of its own annotations. All this is
   * checked at startup.
   */
  String fallbackMethod() default "";

  /** What to do when the lease is lost while the method runs. */
  OnLost onLost() default OnLost.NOTIFY;

  /**
   * When the lease is released: at the end of the method, or of the transaction in which it was
   * called. See {@link ReleaseAfter#TRANSACTION}.
   */
  ReleaseAfter releaseAfter() default ReleaseAfter.METHOD;

  /**
   * Whether each lease has a {@link io.amqplocks.lock.FencingToken}. A parameter of that type
   * implies it: the caller passes null, and the method gets the token. The tokens of a semaphore
   * are ordered within each slot only. A parameter of type {@link io.amqplocks.lock.Lease} gets the
   * lease; do not close it. If a method has several locks, such parameters refer to the one that
   * says {@code fenced = true}.
   */
  boolean fenced() default false;

  /**
   * The priority of waiting calls in all processes: those with the highest priority get a slot
   * first. Processes take turns within a priority. Only {@link SemaphoreAlgorithm#TOKENS} has
   * priorities. They are from -999 to 999.
   */
  int priority() default 0;

  /**
   * Whether the waiting calls of this process are served in the order of arrival. {@code false}
   * lets a call take the slot that another one is just releasing, before calls that have waited
   * longer. The process then gets more leases a second while its threads contend: see {@link
   * io.amqplocks.lock.AmqpLock#unfair()}.
   */
  boolean fair() default true;

  /**
   * How the broker keeps the semaphore, the same in all processes. By default, {@code
   * amqp-locks.semaphores.<name>.algorithm} or another annotation of that name decides, or else
   * {@code amqp-locks.semaphore-algorithm}, which is tokens unless it is set. It is an error at
   * startup if two places, properties included, give one semaphore different algorithms.
   */
  SemaphoreAlgorithm algorithm() default SemaphoreAlgorithm.DEFAULT;

  /** Contains repeated annotations. */
  @Documented
  @Retention(RetentionPolicy.RUNTIME)
  @Target({ElementType.METHOD, ElementType.TYPE})
  @interface List {
    /** The annotations. */
    SemaphoreGuarded[] value();
  }
}
