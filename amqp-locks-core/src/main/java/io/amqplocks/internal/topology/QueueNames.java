package io.amqplocks.internal.topology;

import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind;
import io.amqplocks.lock.LockName;
import io.amqplocks.lock.QueueNaming;
import io.amqplocks.lock.TokenNaming;
import java.nio.charset.StandardCharsets;
import org.jspecify.annotations.Nullable;

/**
 * How a lock's queues are called: {@code PREFIX mutex.NAME}, {@code PREFIX persistent-mutex.NAME}, and
 * {@code PREFIX semaphore.NAME} with {@code .slot.N}, {@code .holder.N} and {@code .admin} behind it;
 * those of fences {@code PREFIX fence.KIND.NAME.SLOT.GENERATION} and {@code PREFIX epoch.} with the same
 * behind it; those of tokens {@code PREFIX token-semaphore.NAME} or {@code PREFIX fenced-mutex.NAME}
 * with {@code .tokens.GENERATION}, {@code .record}, {@code .ledger} and {@code .admin}. What stands
 * behind the name has no room for doubt: read from the end, a queue's name belongs to one lock only,
 * whatever dots the name has. The four of mutexes and semaphores may follow another scheme, that of other clients.
 *
 * @param prefix what our queue names begin with, so that permissions can be given by one pattern
 * @param scheme how the queues of mutexes and semaphores are called, if not so
 * @param plainTokens how the queues of token semaphores are called, if they follow the plain protocol
 */
public record QueueNames(
    String prefix, @Nullable QueueNaming scheme, @Nullable TokenNaming plainTokens) {

  /** The prefix unless the user chooses another. */
  public static final String DEFAULT_PREFIX = "amqp-locks.";

  /** 255 bytes of a queue name, less the longest name, its kind, and its longest ending. */
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

  /** Ours, with that prefix. */
  public QueueNames(String prefix) {
    this(prefix, null, null);
  }

  /** The same with another prefix. */
  public QueueNames withPrefix(String other) {
    return new QueueNames(other, scheme, plainTokens);
  }

  /** The same with another scheme for mutexes and semaphores. */
  public QueueNames withScheme(QueueNaming other) {
    return new QueueNames(prefix, other, plainTokens);
  }

  /** The same with token semaphores of the plain protocol. */
  public QueueNames withPlainTokens(TokenNaming other) {
    return new QueueNames(prefix, scheme, other);
  }

  /** The queue that stands for the mutex. */
  public String mutex(LockName name) {
    return scheme == null ? prefix + "mutex." + name : checked(scheme.mutex(name));
  }

  /** The queue whose exclusive consumer holds the persistent mutex. */
  public String persistentMutex(LockName name) {
    return prefix + "persistent-mutex." + name;
  }

  /** A[slot] of seed 001: the slot exists while this queue does. */
  public String slot(LockName semaphore, int slot) {
    return scheme == null
        ? semaphore(semaphore) + ".slot." + slot
        : checked(scheme.slot(semaphore, slot));
  }

  /** B[slot] of seed 001: the slot is held while this queue exists. */
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
   * The counter that a slot's fencing tokens are drawn from. Its name is never used twice: one that
   * was lost is followed by one of the next generation.
   */
  public String counter(LockId lock, int slot, int generation) {
    return fence("fence.", lock) + slot + "." + generation;
  }

  /** There once the counter of that generation is in use, for good: the slot's history of counters. */
  public String epoch(LockId lock, int slot, int generation) {
    return fence("epoch.", lock) + slot + "." + generation;
  }

  /** The mutex of whoever makes or renews the counter of a slot. */
  public String counterAdmin(LockId lock, int slot) {
    return fence("fence.", lock) + slot + ".admin";
  }

  /** A counter to try out what the broker does with counters here; with a random ending. */
  public String counterTrial(LockId lock, String random) {
    return fence("fence.", lock) + "try-" + random;
  }

  /** Whether the tokens of that lock are of the plain protocol: one queue for ever, any message counts. */
  public boolean hasPlainTokens(LockId lock) {
    return plainTokens != null && lock.kind() == LockKind.TOKEN_SEMAPHORE;
  }

  /**
   * The queue that keeps the tokens. A name is never used twice for a quorum queue (trap 11), so what is
   * made anew is of the next generation; in the plain protocol there is one.
   */
  public String tokens(LockId lock, int generation) {
    return plainTokens != null && hasPlainTokens(lock)
        ? checked(plainTokens.tokens(lock.name()))
        : tokenFamily(lock) + ".tokens." + generation;
  }

  /**
   * Where all can read how many tokens there are, and in which queue; outlives the semaphore. A reader
   * takes the message and puts it back.
   */
  public String tokenRecord(LockId lock) {
    return tokenFamily(lock) + ".record";
  }

  /**
   * The same for administrators only: none but the one whose turn it is ever takes its message, so that
   * one can be sure to see the newest. Outlives the semaphore.
   */
  public String tokenLedger(LockId lock) {
    return tokenFamily(lock) + ".ledger";
  }

  /** A token queue to try out what the broker does with such; with a random ending. */
  public String tokenTrial(LockId lock, String random) {
    return tokenFamily(lock) + ".tokens.try-" + random;
  }

  /** The same for record and ledger. */
  public String recordTrial(LockId lock, String random) {
    return tokenFamily(lock) + ".record.try-" + random;
  }

  /** The mutex of whoever changes tokens. */
  public String tokenAdmin(LockId lock) {
    return tokenFamily(lock) + ".admin";
  }

  private String tokenFamily(LockId lock) {
    return prefix
        + (lock.kind() == LockKind.FENCED_MUTEX ? "fenced-mutex." : "token-semaphore.")
        + lock.name();
  }

  /** By which those are told who wait for the lock. */
  public String wake(LockId lock) {
    return prefix + "wake." + kind(lock) + "." + lock.name();
  }

  /** Whether that queue, while it is there, says that somebody holds the lock. */
  public boolean isHolder(LockId lock, String queue) {
    return switch (lock.kind()) {
      case MUTEX -> queue.equals(mutex(lock.name()));
      case SEMAPHORE -> {
        String first = holder(lock.name(), 1);
        yield queue.startsWith(first.substring(0, first.length() - 1));
      }
      // Held by consumers.
      case PERSISTENT_MUTEX, TOKEN_SEMAPHORE, FENCED_MUTEX -> false;
    };
  }

  private String fence(String family, LockId lock) {
    return prefix + family + kind(lock) + "." + lock.name() + ".";
  }

  private static String kind(LockId lock) {
    return switch (lock.kind()) {
      case MUTEX -> "mutex";
      case PERSISTENT_MUTEX -> "persistent";
      case SEMAPHORE -> "semaphore";
      case TOKEN_SEMAPHORE -> "tokens";
      case FENCED_MUTEX -> "fenced";
    };
  }

  /** Ours fit by their making; those of another scheme are looked at. */
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
