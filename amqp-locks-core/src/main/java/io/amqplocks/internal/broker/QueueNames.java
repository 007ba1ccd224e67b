package io.amqplocks.internal.broker;

import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind;
import io.amqplocks.lock.LockName;
import io.amqplocks.lock.QueueNaming;
import io.amqplocks.lock.TokenNaming;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * The names of a lock's queues.
 *
 * <ul>
 *   <li>Mutex and exclusive-queue mutex: {@code PREFIX mutex.NAME}. They share the name so that
 *       processes which disagree about the algorithm get an error, and not the lock twice.
 *   <li>Persistent mutex: {@code PREFIX persistent-mutex.NAME}.
 *   <li>Read-write lock: {@code PREFIX read-write.NAME} and {@code PREFIX read-write-gate.NAME}.
 *   <li>Slot semaphore: {@code PREFIX semaphore.NAME}, followed by {@code .slot.N}, {@code
 *       .holder.N} or {@code .admin}.
 *   <li>Fences: {@code PREFIX fence.KIND.NAME.SLOT.GENERATION}, and {@code PREFIX
 *       epoch.KIND.NAME.SLOT.GENERATION}. For locks with keys: {@code keyed-KIND} instead of {@code
 *       KIND}, the name without the key, and the number of the counter instead of the slot.
 *   <li>Collecting several permits: {@code PREFIX permits.KIND.NAME}.
 *   <li>Tokens: {@code PREFIX token-semaphore.NAME} or {@code PREFIX fenced-mutex.NAME}, followed
 *       by {@code .tokens.GENERATION}, {@code .record}, {@code .ledger} or {@code .admin}.
 *   <li>Indexes of keys: {@code PREFIX keys.KIND.NAME}.
 * </ul>
 *
 * <p>The part after the lock's name is unambiguous. Read from the end, a queue name belongs to one
 * lock only, whatever dots the lock's name has. Exclusive-queue mutexes and slot semaphores may
 * follow the scheme of another client instead.
 *
 * @param prefix the prefix of our queue names, so that permissions can be given by one pattern
 * @param scheme the names for exclusive-queue mutexes and slot semaphores if they are not ours
 * @param plainTokens the names for token semaphores if they follow the plain protocol
 */
public record QueueNames(
    String prefix, @Nullable QueueNaming scheme, @Nullable TokenNaming plainTokens) {

  /** The prefix unless the user chooses another. */
  public static final String DEFAULT_PREFIX = "amqp-locks.";

  /** The 255 bytes of a queue name, less the longest name, its kind, and its longest ending. */
  static final int MAX_PREFIX_BYTES =
      255 - "token-semaphore.".length() - LockName.MAX_BYTES - ".tokens.try-12345678".length();

  /** Checks the prefix. */
  public QueueNames {
    if (prefix.getBytes(StandardCharsets.UTF_8).length > MAX_PREFIX_BYTES) {
      throw new LockException.Invalid(
          "The queue prefix '%s' is longer than %d bytes".formatted(prefix, MAX_PREFIX_BYTES));
    }
    if (prefix.startsWith("amq.")) {
      throw new LockException.Invalid(
          "The queue prefix '%s' begins with 'amq.', which RabbitMQ keeps for itself"
              .formatted(prefix));
    }
  }

  /** Creates our own names with that prefix. */
  public QueueNames(String prefix) {
    this(prefix, null, null);
  }

  /** Returns a copy with another prefix. */
  public QueueNames withPrefix(String other) {
    return new QueueNames(other, scheme, plainTokens);
  }

  /** Returns a copy with another scheme for mutexes and slot semaphores. */
  public QueueNames withScheme(QueueNaming other) {
    return new QueueNames(prefix, other, plainTokens);
  }

  /** Returns a copy whose token semaphores follow the plain protocol. */
  public QueueNames withPlainTokens(TokenNaming other) {
    return new QueueNames(prefix, scheme, other);
  }

  /** The queue whose active consumer holds the mutex. */
  public String mutex(LockName name) {
    return prefix + "mutex." + name;
  }

  /** The queue whose owner holds the exclusive-queue mutex. */
  public String exclusiveQueueMutex(LockName name) {
    return scheme == null ? mutex(name) : checked(scheme.mutex(name));
  }

  /** The queue whose active consumer holds the persistent mutex. */
  public String persistentMutex(LockName name) {
    return prefix + "persistent-mutex." + name;
  }

  /** The queue whose consumers hold the read-write lock. */
  public String readWrite(LockName name) {
    return prefix + "read-write." + name;
  }

  /** The mutex of the client whose turn it is to acquire the read-write lock. */
  public String readWriteGate(LockName name) {
    return prefix + "read-write-gate." + name;
  }

  /** A[slot] of the semaphore guideline: the slot exists while this queue does. */
  public String slot(LockName semaphore, int slot) {
    return scheme == null
        ? semaphore(semaphore) + ".slot." + slot
        : checked(scheme.slot(semaphore, slot));
  }

  /** B[slot] of the semaphore guideline: the slot is held while this queue exists. */
  public String holder(LockName semaphore, int slot) {
    return scheme == null
        ? semaphore(semaphore) + ".holder." + slot
        : checked(scheme.holder(semaphore, slot));
  }

  /** The administration mutex of a lock that outlives its clients. */
  public String admin(LockId lock) {
    return lock.kind() == LockKind.PERSISTENT_MUTEX
        ? prefix + "persistent-mutex-admin." + lock.name()
        : admin(lock.name());
  }

  /** The administration mutex of the semaphore. */
  public String admin(LockName semaphore) {
    return scheme == null ? semaphore(semaphore) + ".admin" : checked(scheme.admin(semaphore));
  }

  /**
   * The queue of a counter of fencing tokens. Its name is never used twice: a lost counter is
   * replaced by one of the next generation.
   */
  public String counter(FenceCounter counter, int generation) {
    return fence("fence.", counter) + counter.number() + "." + generation;
  }

  /**
   * The queue that exists, for good, once the counter of that generation is in use. These queues
   * are the history of the counter.
   */
  public String epoch(FenceCounter counter, int generation) {
    return fence("epoch.", counter) + counter.number() + "." + generation;
  }

  /** The mutex of a client that creates or renews the counter. */
  public String counterAdmin(FenceCounter counter) {
    return fence("fence.", counter) + counter.number() + ".admin";
  }

  /**
   * A trial counter, which shows what the broker does with counters. Its name has a random ending.
   */
  public String counterTrial(FenceCounter counter, String random) {
    return fence("fence.", counter) + "try-" + random;
  }

  /**
   * Whether the tokens of that lock follow the plain protocol: one queue forever, in which any
   * message counts.
   */
  public boolean hasPlainTokens(LockId lock) {
    return plainTokens != null && lock.kind() == LockKind.TOKEN_SEMAPHORE;
  }

  /**
   * The queue that keeps the tokens. A name is never used twice for a quorum queue (trap 11), so
   * each new queue has the next generation. In the plain protocol there is one queue only.
   */
  public String tokens(LockId lock, int generation) {
    return plainTokens != null && hasPlainTokens(lock)
        ? checked(plainTokens.tokens(lock.name()))
        : tokenFamily(lock) + ".tokens." + generation;
  }

  /**
   * The queue in which all clients read how many tokens there are, and in which queue they are. A
   * reader takes the message and puts it back. This queue outlives the semaphore.
   */
  public String tokenRecord(LockId lock) {
    return tokenFamily(lock) + ".record";
  }

  /**
   * The queue with the same content for administrators only. No client but the administrator whose
   * turn it is ever takes its message, so that administrator certainly sees the newest version.
   * This queue outlives the semaphore.
   */
  public String tokenLedger(LockId lock) {
    return tokenFamily(lock) + ".ledger";
  }

  /**
   * A trial token queue, which shows what the broker does with token queues. Its name has a random
   * ending.
   */
  public String tokenTrial(LockId lock, String random) {
    return tokenFamily(lock) + ".tokens.try-" + random;
  }

  /** A trial queue for record and ledger. Its name has a random ending. */
  public String recordTrial(LockId lock, String random) {
    return tokenFamily(lock) + ".record.try-" + random;
  }

  /** The mutex of an administrator that changes tokens. */
  public String tokenAdmin(LockId lock) {
    return tokenFamily(lock) + ".admin";
  }

  /** The queue with the name of each lock of that kind whose name is this one and a key. */
  public String keys(LockId name) {
    return prefix + "keys." + kind(name.kind()) + "." + name.name();
  }

  private String tokenFamily(LockId lock) {
    return prefix
        + (lock.kind() == LockKind.FENCED_MUTEX ? "fenced-mutex." : "token-semaphore.")
        + lock.name();
  }

  /** The mutex of the call that collects several permits of the semaphore. */
  public String permits(LockId lock) {
    return prefix + "permits." + kind(lock.kind()) + "." + lock.name();
  }

  /** The wake queue, by which waiters for the lock are notified. */
  public String wake(LockId lock) {
    return prefix + "wake." + kind(lock.kind()) + "." + lock.name();
  }

  /** Whether the existence of that queue shows that somebody holds the lock. */
  public boolean isHolder(LockId lock, String queue) {
    return switch (lock.kind()) {
      case EXCLUSIVE_QUEUE_MUTEX -> queue.equals(exclusiveQueueMutex(lock.name()));
      case SLOT_SEMAPHORE -> {
        String first = holder(lock.name(), 1);
        yield queue.startsWith(first.substring(0, first.length() - 1));
      }
      // These are held by consumers.
      case MUTEX, PERSISTENT_MUTEX, TOKEN_SEMAPHORE, FENCED_MUTEX, READ_LOCK, WRITE_LOCK -> false;
    };
  }

  private String fence(String role, FenceCounter counter) {
    String keyed = counter.shared() ? "keyed-" : "";
    return prefix + role + keyed + kind(counter.kind()) + "." + counter.name() + ".";
  }

  private static String kind(LockKind kind) {
    return switch (kind) {
      case MUTEX -> "mutex";
      case EXCLUSIVE_QUEUE_MUTEX -> "exclusive";
      case PERSISTENT_MUTEX -> "persistent";
      case SLOT_SEMAPHORE -> "semaphore";
      case TOKEN_SEMAPHORE -> "tokens";
      case FENCED_MUTEX -> "fenced";
      case READ_LOCK, WRITE_LOCK -> "read-write";
    };
  }

  /** Our own names fit by construction. The names of another scheme are checked. */
  private static String checked(String queue) {
    int bytes = queue.getBytes(StandardCharsets.UTF_8).length;
    if (bytes > 255 || queue.startsWith("amq.")) {
      throw new LockException.Invalid(
          "The queue name '%s' of the naming scheme is not possible: it has %d bytes, where 255 are"
                  .formatted(queue, bytes)
              + " allowed, or begins with 'amq.', which RabbitMQ keeps for itself");
    }
    return queue;
  }

  private String semaphore(LockName name) {
    return prefix + "semaphore." + name;
  }
}
