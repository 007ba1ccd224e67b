package io.amqplocks.spring;

import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind;
import io.amqplocks.lock.TokenQueueType;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * All that is said of the semaphore or the mutex of one name, and by whom. Immutable.
 *
 * @param name the semaphore or the mutex, whatever its algorithm
 * @param slots how many slots it is created with
 * @param kind which kind of lock it is
 * @param queueType what keeps its tokens
 * @param priority that somebody waits for it with a priority
 * @param maxWait how long to wait for it
 * @param onMismatch what to do if the broker has another number of slots
 * @param settled whether it may be in use, so that its kind is decided for good
 */
record NamedLock(
    LockId name,
    @Nullable Said<Integer> slots,
    @Nullable Said<LockKind> kind,
    @Nullable Said<TokenQueueType> queueType,
    @Nullable Said<Integer> priority,
    @Nullable Duration maxWait,
    @Nullable OnMismatch onMismatch,
    boolean settled) {

  private static final Logger log = LoggerFactory.getLogger(NamedLock.class);

  /** Something said by somebody. */
  record Said<T>(T what, boolean configured, String source) {}

  /** Nothing said yet. */
  static NamedLock of(LockId name) {
    return new NamedLock(name, null, null, null, null, null, null, false);
  }

  /**
   * What was said before and these terms.
   *
   * @throws IllegalStateException if they contradict each other
   */
  NamedLock and(LockTerms terms) {
    NamedLock result =
        new NamedLock(
            name,
            terms.slots() == 0 ? slots : moreSlots(said(terms.slots(), terms, "slots")),
            terms.algorithm() == null
                ? kind
                : sameKind(said(terms.algorithm(), terms, "algorithm")),
            terms.queueType() == null ? queueType : said(terms.queueType(), terms, "queue-type"),
            terms.priority() == 0 || priority != null
                ? priority
                : said(terms.priority(), terms, "priority"),
            terms.maxWait() == null ? maxWait : terms.maxWait(),
            terms.onMismatch() == null ? onMismatch : terms.onMismatch(),
            settled);
    return settled ? result.checked() : result;
  }

  private static <T> Said<T> said(T what, LockTerms terms, String property) {
    String source = terms.configured() ? terms.source() + "." + property : terms.source();
    return new Said<>(what, terms.configured(), source);
  }

  private Said<Integer> moreSlots(Said<Integer> now) {
    Said<Integer> before = slots;
    if (before == null || before.what().equals(now.what())) {
      return before == null ? now : before;
    }
    String both =
        "%d slots by %s".formatted(before.what(), before.source())
            + (before.configured() ? " override " : " and ")
            + "%d slots by %s".formatted(now.what(), now.source());
    if (before.configured()) {
      log.info("{}: {}", name, both);
      return before;
    }
    throw new LockConfigurationException(
        "The %s is given %s.".formatted(name, both),
        "Make them equal, or decide by %s.slots.".formatted(LockCatalog.property(name)));
  }

  /** A property does not override here: the work of the annotated method may rely on the algorithm. */
  private Said<LockKind> sameKind(Said<LockKind> now) {
    Said<LockKind> before = kind;
    if (before == null || before.what() == now.what()) {
      return before == null ? now : before;
    }
    throw new LockConfigurationException(
        ("The %s is given the algorithm %s by %s and %s by %s, which are two locks that know nothing of"
                + " each other.")
            .formatted(
                name,
                algorithm(before.what()),
                before.source() + (settled ? " at its first use" : ""),
                algorithm(now.what()),
                now.source()),
        "Make them equal, or say it only once, by %s.algorithm."
            .formatted(LockCatalog.property(name)));
  }

  /**
   * Decided for good.
   *
   * @param otherwise the kind unless somebody says another
   * @throws IllegalStateException if what is said is not for the kind that it is
   */
  NamedLock settle(Said<LockKind> otherwise) {
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
    Said<LockKind> is = decided();
    boolean tokens = is.what() == LockKind.TOKEN_SEMAPHORE || is.what() == LockKind.FENCED_MUTEX;
    if (!tokens && priority != null) {
      throw new LockConfigurationException(
          "%s waits for the %s with priority %d, and its algorithm %s, by %s, has no priorities."
              .formatted(
                  priority.source(), name, priority.what(), algorithm(is.what()), is.source()),
          "Choose TOKENS there or by %s.algorithm=tokens, or leave the priority out."
              .formatted(LockCatalog.property(name)));
    }
    if (!tokens && queueType != null) {
      throw new LockConfigurationException(
          "%s is for tokens, and the %s has the algorithm %s by %s."
              .formatted(queueType.source(), name, algorithm(is.what()), is.source()),
          "Make that tokens, or leave %s out.".formatted(queueType.source()));
    }
    return this;
  }

  /** The lock that stands for the name, once it is settled. */
  LockId id() {
    return new LockId(decided().what(), name.name());
  }

  private Said<LockKind> decided() {
    if (kind == null) {
      throw new IllegalStateException(name + " is not settled");
    }
    return kind;
  }

  /** As the constants of the annotations' enums are called. */
  private static String algorithm(LockKind kind) {
    return switch (kind) {
      case SEMAPHORE -> SemaphoreAlgorithm.SLOTS.name();
      case TOKEN_SEMAPHORE -> SemaphoreAlgorithm.TOKENS.name();
      case MUTEX -> MutexAlgorithm.EXCLUSIVE_QUEUE.name();
      case FENCED_MUTEX -> MutexAlgorithm.TOKENS.name();
      case PERSISTENT_MUTEX -> kind.name();
    };
  }
}
