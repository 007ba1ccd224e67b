package io.amqplocks.spring.autoconfigure;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.SlotSemaphoreAdmin;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockKind.Family;
import io.amqplocks.spring.MutexAlgorithm;
import io.amqplocks.spring.OnMismatch;
import io.amqplocks.spring.OnUnavailable;
import io.amqplocks.spring.SemaphoreAlgorithm;
import io.amqplocks.spring.internal.catalog.LockCatalog;
import io.amqplocks.spring.internal.catalog.LockDefaults;
import io.amqplocks.spring.internal.catalog.LockSettings;
import io.amqplocks.spring.internal.naming.FamilyId;
import java.time.Duration;
import java.util.Map;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.boot.context.properties.bind.Name;
import org.springframework.context.annotation.AdviceMode;

/**
 * The properties of the locks.
 *
 * @param enabled Whether to use locks. If not, annotated methods and work of the LockTemplate just
 *     run, without a lease and a fencing token.
 * @param connectionFactory Name or qualifier of the connection factory bean whose settings the
 *     locks' own connections use. By default the only one or the primary one.
 * @param connectionName Name of the locks' connections at the broker, followed by the purpose of
 *     each, such as "holder". By default the application's name.
 * @param heartbeat Interval of AMQP heartbeats in whole seconds, which bounds how long the loss of
 *     a connection goes unnoticed.
 * @param callTimeout Bound on the broker's part of each call, at most the heartbeat. By default
 *     five seconds, or the heartbeat if that is shorter.
 * @param verifyEvery How often to ask the broker whether held leases still stand. By default half
 *     the heartbeat.
 * @param certainFor How old the broker's newest answer may be for a lease to be held for certain,
 *     one second at least. By default the heartbeat decides alone, 1.75 times its interval.
 * @param queuePrefix Prefix of all queues that the locks use, for broker permissions.
 * @param defaultWait How long to wait for a busy lock unless the lock's own setting or the caller
 *     says otherwise.
 * @param shutdownTimeout How long to wait at shutdown for leases that are still held when Spring
 *     has stopped all work that it manages, also those that holdAtLeast keeps. Then they are
 *     released.
 * @param semaphoreAlgorithm How the broker keeps semaphores, unless a property of their own or an
 *     annotation says otherwise. By default tokens.
 * @param semaphoreQueueType Type of the queues for the tokens of semaphores without a queue type of
 *     their own.
 * @param semaphores Semaphores by name, each with slots, wait, algorithm, queue-type and
 *     on-mismatch. Those with slots are created when the application starts, or at their first use
 *     if the broker cannot be reached then.
 * @param mutexes Mutexes by name, each with wait and algorithm.
 * @param readWriteLocks Read-write locks by name, each with wait.
 * @param annotations Annotated methods.
 */
@ConfigurationProperties("amqp-locks")
public record AmqpLocksProperties(
    @DefaultValue("true") boolean enabled,
    @Nullable String connectionFactory,
    @Nullable String connectionName,
    @DefaultValue("10s") Duration heartbeat,
    @Nullable Duration callTimeout,
    @Nullable Duration verifyEvery,
    @Nullable Duration certainFor,
    @DefaultValue("amqp-locks.") String queuePrefix,
    @DefaultValue("30s") Duration defaultWait,
    @DefaultValue("5s") Duration shutdownTimeout,
    @DefaultValue("tokens") SemaphoreAlgorithm semaphoreAlgorithm,
    @DefaultValue("quorum") TokenQueueType semaphoreQueueType,
    @DefaultValue Map<String, Semaphore> semaphores,
    @DefaultValue Map<String, Mutex> mutexes,
    @DefaultValue Map<String, ReadWriteLock> readWriteLocks,
    @DefaultValue Annotations annotations) {

  private static final Duration LEAST = Duration.ofMillis(10);

  /** Outside transactions, whose advice comes at the lowest precedence. */
  static final int DEFAULT_ORDER = Integer.MAX_VALUE - 1024;

  /**
   * One semaphore.
   *
   * @param slots Number of slots to create the semaphore with if it does not exist. Overrides the
   *     number in annotations.
   * @param maxWait How long to wait for a slot unless the caller says otherwise.
   * @param algorithm How the broker keeps the semaphore, the same in all processes. Must not
   *     contradict an annotation.
   * @param queueType Type of the queue for its tokens when it is created, if it has tokens.
   * @param onMismatch What to do when the semaphore exists with another number of slots than
   *     configured.
   */
  public record Semaphore(
      @Nullable Integer slots,
      @Name("wait") @Nullable Duration maxWait,
      @DefaultValue("default") SemaphoreAlgorithm algorithm,
      @Nullable TokenQueueType queueType,
      @DefaultValue("adopt") OnMismatch onMismatch) {}

  /**
   * One mutex.
   *
   * @param maxWait How long to wait for the mutex unless the caller says otherwise.
   * @param algorithm How the broker keeps the mutex, the same in all processes. Must not contradict
   *     an annotation.
   */
  public record Mutex(
      @Name("wait") @Nullable Duration maxWait,
      @DefaultValue("default") MutexAlgorithm algorithm) {}

  /**
   * One read-write lock.
   *
   * @param maxWait How long to wait for its read lock or its write lock unless the caller says
   *     otherwise.
   */
  public record ReadWriteLock(@Name("wait") @Nullable Duration maxWait) {}

  /**
   * Annotated methods.
   *
   * @param order Place of the locks among the advice of a method, if proxies guard it. The default
   *     is outside transactions.
   * @param onUnavailable What calls do when the broker is unavailable, unless an annotation says
   *     otherwise.
   * @param mode What guards the methods: proxies of beans, or code that AspectJ weaves into the
   *     methods.
   */
  public record Annotations(
      @DefaultValue("" + DEFAULT_ORDER) int order,
      @DefaultValue("wait") OnUnavailable onUnavailable,
      @DefaultValue("proxy") AdviceMode mode) {}

  /** Checks every value, with messages that name the property. */
  public AmqpLocksProperties {
    check(
        heartbeat.toSeconds() >= 1
            && heartbeat.compareTo(Duration.ofMinutes(10)) <= 0
            && heartbeat.toNanosPart() == 0,
        "amqp-locks.heartbeat must be whole seconds, from 1 second to 10 minutes",
        heartbeat);
    if (callTimeout != null) {
      check(
          callTimeout.compareTo(LEAST) >= 0 && callTimeout.compareTo(heartbeat) <= 0,
          "amqp-locks.call-timeout must be 10 ms at least and at most amqp-locks.heartbeat",
          callTimeout);
    }
    if (verifyEvery != null) {
      check(
          verifyEvery.compareTo(LEAST) >= 0 && verifyEvery.compareTo(heartbeat) <= 0,
          "amqp-locks.verify-every must be 10 ms at least and at most amqp-locks.heartbeat",
          verifyEvery);
    }
    if (certainFor != null) {
      check(
          certainFor.compareTo(Duration.ofSeconds(1)) >= 0,
          "amqp-locks.certain-for must be 1 second at least",
          certainFor);
    }
    try {
      AmqpLocks.builder(new ConnectionFactory()).queuePrefix(queuePrefix);
    } catch (LockException.Invalid e) {
      throw new IllegalArgumentException("amqp-locks.queue-prefix: " + e.getMessage(), e);
    }
    checkWait("amqp-locks.default-wait", defaultWait);
    checkWait("amqp-locks.shutdown-timeout", shutdownTimeout);
    semaphores = Map.copyOf(ConfiguredNames.withoutVariables(semaphores));
    semaphores.forEach(AmqpLocksProperties::check);
    mutexes = Map.copyOf(ConfiguredNames.withoutVariables(mutexes));
    mutexes.forEach(
        (name, mutex) -> checkWait(property(Family.MUTEX, name) + ".wait", mutex.maxWait));
    readWriteLocks = Map.copyOf(ConfiguredNames.withoutVariables(readWriteLocks));
    readWriteLocks.forEach(
        (name, lock) -> checkWait(property(Family.WRITE_LOCK, name) + ".wait", lock.maxWait));
  }

  /** The catalog of the locks that the properties configure. */
  LockCatalog catalog() {
    LockCatalog catalog =
        new LockCatalog(new LockDefaults(defaultWait, semaphoreAlgorithm, semaphoreQueueType));
    semaphores.forEach(
        (name, semaphore) ->
            catalog.add(
                LockSettings.configured(FamilyId.semaphore(name))
                    .slots(semaphore.slots == null ? 0 : semaphore.slots)
                    .maxWait(semaphore.maxWait)
                    .algorithm(semaphore.algorithm)
                    .queueType(semaphore.queueType)
                    .onMismatch(semaphore.onMismatch)));
    mutexes.forEach(
        (name, mutex) ->
            catalog.add(
                LockSettings.configured(FamilyId.mutex(name))
                    .maxWait(mutex.maxWait)
                    .algorithm(mutex.algorithm)));
    readWriteLocks.forEach(
        (name, lock) ->
            Stream.of(FamilyId.readLock(name), FamilyId.writeLock(name))
                .map(side -> LockSettings.configured(side).maxWait(lock.maxWait))
                .forEach(catalog::add));
    return catalog;
  }

  private static void check(String name, Semaphore semaphore) {
    String property = property(Family.SEMAPHORE, name);
    Integer slots = semaphore.slots;
    if (slots != null) {
      check(
          slots >= 1 && slots <= SlotSemaphoreAdmin.MAX_SLOTS,
          property + ".slots must be 1 to " + SlotSemaphoreAdmin.MAX_SLOTS,
          slots);
    }
    checkWait(property + ".wait", semaphore.maxWait);
  }

  private static String property(Family family, String name) {
    try {
      return FamilyId.of(family, name).property();
    } catch (LockException.Invalid e) {
      throw new IllegalArgumentException(
          "%s[%s]: %s".formatted(FamilyId.group(family), name, e.getMessage()), e);
    }
  }

  private static void checkWait(String property, @Nullable Duration wait) {
    if (wait != null) {
      check(!wait.isNegative(), property + " must not be negative", wait);
    }
  }

  private static void check(boolean good, String rule, Object value) {
    if (!good) {
      throw new IllegalArgumentException(rule + ", and not " + value);
    }
  }
}
