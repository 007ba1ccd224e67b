package io.amqplocks.prover.driver;

/**
 * A lock, as every client names it.
 *
 * @param kind how the broker keeps it
 * @param name its name
 */
public record LockRef(Kind kind, String name) {

  /** The kinds of locks of {@code docs/PROTOCOL.md}. */
  public enum Kind {
    /** The single active consumer of a queue that expires. */
    MUTEX,
    /** An exclusive queue. */
    EXCLUSIVE_QUEUE_MUTEX,
    /** The exclusive consumer of a durable queue. */
    PERSISTENT_MUTEX,
    /** A token semaphore of one token on a quorum queue. */
    FENCED_MUTEX,
    /** An exclusive queue for each slot. */
    SLOT_SEMAPHORE,
    /** A message for each slot, in a classic queue. */
    CLASSIC_TOKENS,
    /** A message for each slot, in a quorum queue. */
    QUORUM_TOKENS,
    /** Consumers of one queue: readers, or an exclusive one. A command says which side is meant. */
    READ_WRITE_LOCK,
    /** A queue that whoever holds a {@link #MUTEX} of that name consumes. */
    SOLE_CONSUMER,
    /** A queue that whoever holds a {@link #FENCED_MUTEX} of that name consumes. */
    FENCED_SOLE_CONSUMER,
    /** As {@link #SOLE_CONSUMER}, by two ways: the queue tracks what an active queue brings. */
    ACTIVE_QUEUE;

    /** Whether messages are handled under it. */
    public boolean consumes() {
      return this == SOLE_CONSUMER || this == FENCED_SOLE_CONSUMER || this == ACTIVE_QUEUE;
    }

    /** Whether each lease has a fencing token, whatever a command says. */
    public boolean isFenced() {
      return this == FENCED_MUTEX || this == FENCED_SOLE_CONSUMER;
    }

    /** Whether it has slots, whose number can be changed. */
    public boolean isSemaphore() {
      return this == SLOT_SEMAPHORE || this == CLASSIC_TOKENS || this == QUORUM_TOKENS;
    }

    /** Whether its slots are messages. */
    public boolean hasTokens() {
      return this == CLASSIC_TOKENS || this == QUORUM_TOKENS;
    }

    /** Whether who holds it holds a message. */
    public boolean isHeldByMessages() {
      return hasTokens() || isFenced();
    }

    /** Whether it must be created before it can be acquired. */
    public boolean isCreated() {
      return isSemaphore() || this == PERSISTENT_MUTEX;
    }
  }

  @Override
  public String toString() {
    return kind.name().toLowerCase(java.util.Locale.ROOT).replace('_', ' ') + " '" + name + "'";
  }
}
