package io.amqplocks.benchmarks.peers;

import java.util.List;

/** A kind of lock of a system, in the order of the tables. */
enum Kind {
  MUTEX(Peer.AMQP_LOCKS, "mutex", 1),
  /** A mutex whose leases have fencing tokens, which a quorum queue beside it counts. */
  MUTEX_FENCED(Peer.AMQP_LOCKS, "mutex with fencing tokens", 1),
  /** A mutex that a method with {@code @MutexGuarded} acquires. */
  MUTEX_ANNOTATED(Peer.AMQP_LOCKS, "@MutexGuarded", 1),
  PERSISTENT_MUTEX(Peer.AMQP_LOCKS, "persistent mutex", 1),
  PERSISTENT_MUTEX_FENCED(Peer.AMQP_LOCKS, "persistent mutex with fencing tokens", 1),
  FENCED_MUTEX(Peer.AMQP_LOCKS, "fenced mutex", 1),
  /** Of the two sides of a read-write lock, the one that excludes everybody. */
  WRITE_LOCK(Peer.AMQP_LOCKS, "read-write lock, writing", 1),
  SLOT_SEMAPHORE(Peer.AMQP_LOCKS, "slot semaphore, 5 slots", Kind.SLOTS),
  SLOT_SEMAPHORE_FENCED(Peer.AMQP_LOCKS, "slot semaphore with fencing tokens", Kind.SLOTS),
  CLASSIC_TOKENS(Peer.AMQP_LOCKS, "5 classic tokens", Kind.SLOTS),
  /** Classic tokens that a method with {@code @SemaphoreGuarded} acquires. */
  CLASSIC_TOKENS_ANNOTATED(Peer.AMQP_LOCKS, "@SemaphoreGuarded", Kind.SLOTS),
  QUORUM_TOKENS(Peer.AMQP_LOCKS, "5 quorum tokens", Kind.SLOTS),
  R_LOCK(Peer.REDISSON, "RLock", 1),
  R_FENCED_LOCK(Peer.REDISSON, "RFencedLock", 1),
  R_FAIR_LOCK(Peer.REDISSON, "RFairLock", 1),
  R_SEMAPHORE(Peer.REDISSON, "RSemaphore(5)", Kind.SLOTS),
  R_PERMIT_EXPIRABLE_SEMAPHORE(Peer.REDISSON, "RPermitExpirableSemaphore(5)", Kind.SLOTS),
  INTER_PROCESS_MUTEX(Peer.CURATOR, "InterProcessMutex", 1),
  INTER_PROCESS_SEMAPHORE_V2(Peer.CURATOR, "InterProcessSemaphoreV2(5)", Kind.SLOTS),
  ADVISORY_LOCK(Peer.POSTGRESQL, "pg_advisory_lock", 1),
  JETCD_LOCK(Peer.JETCD, "jetcd Lock", 1),
  REDIS_LOCK_REGISTRY(Peer.SPRING_INTEGRATION_REDIS, "RedisLockRegistry", 1),
  REDIS_LOCK_REGISTRY_PUB_SUB(Peer.SPRING_INTEGRATION_REDIS, "RedisLockRegistry, PUB_SUB_LOCK", 1),
  JDBC_LOCK_REGISTRY(Peer.SPRING_INTEGRATION_JDBC, "JdbcLockRegistry", 1),
  SHED_LOCK_REDIS(Peer.SHED_LOCK_REDIS, "RedisLockProvider", 1),
  SHED_LOCK_JDBC(Peer.SHED_LOCK_JDBC, "JdbcTemplateLockProvider", 1);

  private static final int SLOTS = 5;

  private final Peer peer;
  private final String title;
  private final int slots;

  Kind(Peer peer, String title, int slots) {
    this.peer = peer;
    this.title = title;
    this.slots = slots;
  }

  Peer peer() {
    return peer;
  }

  /** What its system calls it. */
  String title() {
    return title;
  }

  /** The same, of a semaphore without its number of slots. */
  String titleOfAnySize() {
    return switch (this) {
      case SLOT_SEMAPHORE -> "slot semaphore";
      case CLASSIC_TOKENS -> "classic tokens";
      case QUORUM_TOKENS -> "quorum tokens";
      case R_SEMAPHORE -> "RSemaphore";
      case R_PERMIT_EXPIRABLE_SEMAPHORE -> "RPermitExpirableSemaphore";
      case INTER_PROCESS_SEMAPHORE_V2 -> "InterProcessSemaphoreV2";
      default -> title;
    };
  }

  /** How many can hold it at once. */
  int slots() {
    return slots;
  }

  /**
   * Whether it is a lock of another kind, acquired in another way: by an annotated method, or with
   * a fencing token.
   */
  boolean isVariant() {
    return switch (this) {
      case MUTEX_FENCED,
          MUTEX_ANNOTATED,
          PERSISTENT_MUTEX_FENCED,
          SLOT_SEMAPHORE_FENCED,
          CLASSIC_TOKENS_ANNOTATED ->
          true;
      default -> false;
    };
  }

  /** Whether it is acquired for the length of a method call, and so cannot be kept. */
  boolean isGuardedCall() {
    return this == MUTEX_ANNOTATED || this == CLASSIC_TOKENS_ANNOTATED;
  }

  /** Whether its clients can wait for it. */
  boolean isWaitedFor() {
    return this != SHED_LOCK_REDIS && this != SHED_LOCK_JDBC;
  }

  /** Whether what is at the server for a name stays there until somebody deletes it. */
  boolean isKept() {
    return peer == Peer.AMQP_LOCKS && this != MUTEX && this != WRITE_LOCK;
  }

  /** All kinds. */
  static List<Kind> all() {
    return List.of(values());
  }

  /** All kinds of a system. */
  static List<Kind> of(Peer peer) {
    return all().stream().filter(kind -> kind.peer == peer).toList();
  }
}
