package io.amqplocks.spring.internal.catalog;

import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind;
import io.amqplocks.spring.LockConfigurationException;
import io.amqplocks.spring.MutexAlgorithm;
import io.amqplocks.spring.OnMismatch;
import io.amqplocks.spring.SemaphoreAlgorithm;
import io.amqplocks.spring.internal.naming.FamilyId;
import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All that is said of the lock of one name, and by whom. Immutable.
 *
 * @param name the lock, whatever its algorithm
 * @param slots how many slots it is created with
 * @param kind which kind of lock it is
 * @param queueType what keeps its tokens
 * @param priority that somebody waits for it with a priority
 * @param maxWait how long to wait for it
 * @param onMismatch what to do if the broker has another number of slots
 * @param settled whether it may be in use, so that its kind is decided for good
 */
record NamedLock(
    FamilyId name,
    @Nullable Sourced<Integer> slots,
    @Nullable Sourced<LockKind> kind,
    @Nullable Sourced<TokenQueueType> queueType,
    @Nullable Sourced<Integer> priority,
    @Nullable Duration maxWait,
    @Nullable OnMismatch onMismatch,
    boolean settled) {

  private static final Logger log = LoggerFactory.getLogger(NamedLock.class);

  /** Something said by somebody. */
  record Sourced<T>(T value, boolean configured, String source) {}

  /** Nothing said yet. */
  static NamedLock of(FamilyId name) {
    return new NamedLock(name, null, null, null, null, null, null, false);
  }

  /**
   * These settings together with further ones.
   *
   * @throws IllegalStateException if they contradict each other
   */
  NamedLock and(LockSettings settings) {
    NamedLock result =
        new NamedLock(
            name,
            settings.slots() == 0 ? slots : moreSlots(sourced(settings.slots(), settings, "slots")),
            settings.algorithm() == null
                ? kind
                : sameKind(sourced(settings.algorithm(), settings, "algorithm")),
            settings.queueType() == null
                ? queueType
                : sourced(settings.queueType(), settings, "queue-type"),
            settings.priority() == 0 || priority != null
                ? priority
                : sourced(settings.priority(), settings, "priority"),
            settings.maxWait() == null ? maxWait : settings.maxWait(),
            settings.onMismatch() == null ? onMismatch : settings.onMismatch(),
            settled);
    return settled ? result.checked() : result;
  }

  /**
   * The same of a lock that was used before anything was said of it, as its name without the key.
   *
   * @param otherwise the kind that other processes take it for if these settings name none
   */
  NamedLock usedBefore(LockSettings settings, Sourced<LockKind> otherwise) {
    if (settings.algorithm() == null) {
      var unused = sameKind(otherwise);
    }
    return and(settings);
  }

  private static <T> Sourced<T> sourced(T value, LockSettings settings, String property) {
    String source = settings.configured() ? settings.source() + "." + property : settings.source();
    return new Sourced<>(value, settings.configured(), source);
  }

  private Sourced<Integer> moreSlots(Sourced<Integer> now) {
    Sourced<Integer> before = slots;
    if (before == null || before.value().equals(now.value())) {
      return before == null ? now : before;
    }
    String both =
        "%d slots by %s".formatted(before.value(), before.source())
            + (before.configured() ? " override " : " and ")
            + "%d slots by %s".formatted(now.value(), now.source());
    if (before.configured()) {
      log.info("{}: {}", name, both);
      return before;
    }
    throw new LockConfigurationException(
        "The %s is given %s.".formatted(name, both),
        "Make them equal, or decide by %s.slots.".formatted(name.property()));
  }

  /**
   * A property does not override here: the work of the annotated method may rely on the algorithm.
   */
  private Sourced<LockKind> sameKind(Sourced<LockKind> now) {
    Sourced<LockKind> before = kind;
    if (before == null || before.value() == now.value()) {
      return before == null ? now : before;
    }
    throw new LockConfigurationException(
        ("The %s is given the algorithm %s by %s and %s by %s, which are two locks that know nothing of"
                + " each other.")
            .formatted(
                name,
                algorithm(before.value()),
                before.source() + (settled ? " at its first use" : ""),
                algorithm(now.value()),
                now.source()),
        "Make them equal, or say it only once, by %s.algorithm.".formatted(name.property()));
  }

  /**
   * Decided for good.
   *
   * @param otherwise the kind unless somebody says another
   * @throws IllegalStateException if what is said is not for the kind that it is
   */
  NamedLock settle(Sourced<LockKind> otherwise) {
    return settled
        ? this
        : new NamedLock(
                name,
                slots,
                kind == null ? otherwise : kind,
                queueType,
                priority,
                maxWait,
                onMismatch,
                true)
            .checked();
  }

  private NamedLock checked() {
    Sourced<LockKind> is = decided();
    boolean tokens = algorithm(is.value()).equals(SemaphoreAlgorithm.TOKENS.name());
    if (!tokens && priority != null) {
      throw new LockConfigurationException(
          "%s waits for the %s with priority %d, and its algorithm %s, by %s, has no priorities."
              .formatted(
                  priority.source(), name, priority.value(), algorithm(is.value()), is.source()),
          "Choose TOKENS there or by %s.algorithm=tokens, or leave the priority out."
              .formatted(name.property()));
    }
    if (priority != null && Math.abs((long) priority.value()) > AmqpLock.MAX_PRIORITY) {
      throw new LockConfigurationException(
          "%s waits for the %s with priority %d."
              .formatted(priority.source(), name, priority.value()),
          "Use -%1$d to %1$d.".formatted(AmqpLock.MAX_PRIORITY));
    }
    if (!tokens && queueType != null) {
      throw new LockConfigurationException(
          "%s is for tokens, and the %s has the algorithm %s by %s."
              .formatted(queueType.source(), name, algorithm(is.value()), is.source()),
          "Make that tokens, or leave %s out.".formatted(queueType.source()));
    }
    return this;
  }

  /** The lock that stands for the name, once it is settled. */
  LockId id() {
    return name.as(decided().value());
  }

  /** Its kind, once it is settled. */
  Sourced<LockKind> decided() {
    if (kind == null) {
      throw new IllegalStateException(name + " is not settled");
    }
    return kind;
  }

  /** The name of the constant of {@link SemaphoreAlgorithm} or {@link MutexAlgorithm}. */
  private static String algorithm(LockKind kind) {
    return kind.algorithm().toUpperCase(Locale.ROOT).replace('-', '_');
  }
}
