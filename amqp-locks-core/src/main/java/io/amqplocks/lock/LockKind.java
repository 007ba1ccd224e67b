package io.amqplocks.lock;

/**
 * The kinds of locks. They differ in what holds a lock at the broker. Each kind has its own
 * namespace, but a read lock and a write lock of one name are the two sides of one read-write lock.
 */
public enum LockKind {
  /** One holder at a time. It needs no creating, and leaves nothing when it is not used. */
  MUTEX("mutex", Family.MUTEX, "single-active-consumer"),
  /** One holder at a time, as the guidelines have it. It needs no creating. */
  EXCLUSIVE_QUEUE_MUTEX("exclusive-queue mutex", Family.MUTEX, "exclusive-queue"),
  /** One holder at a time. It can be acquired while an administrator has enabled it. */
  PERSISTENT_MUTEX("persistent mutex", Family.MUTEX, "persistent"),
  /** As many holders as an administrator created slots. Each slot is a queue. */
  SLOT_SEMAPHORE("slot semaphore", Family.SEMAPHORE, "slots"),
  /** As many holders as an administrator created slots. Each slot is a message, its token. */
  TOKEN_SEMAPHORE("token semaphore", Family.SEMAPHORE, "tokens"),
  /** One holder at a time, always with a fencing token. */
  FENCED_MUTEX("fenced mutex", Family.MUTEX, "tokens"),
  /** The read lock of a read-write lock. It admits any number of holders, but no writer. */
  READ_LOCK("read lock", Family.READ_LOCK, "shared-consumer"),
  /** The write lock of a read-write lock. It admits one holder, and no readers. */
  WRITE_LOCK("write lock", Family.WRITE_LOCK, "exclusive-consumer");

  /** How many holders a lock admits. */
  public enum Family {
    /** One holder at a time. */
    MUTEX("mutex"),
    /** As many holders as there are slots. */
    SEMAPHORE("semaphore"),
    /** Any number of holders, while nobody has the write lock of the same name. */
    READ_LOCK("read-lock"),
    /** One holder at a time, while nobody has the read lock of the same name. */
    WRITE_LOCK("write-lock");

    private final String label;

    Family(String label) {
      this.label = label;
    }

    /** The family in lower case, as tools and properties name it. */
    public String label() {
      return label;
    }
  }

  private final String label;
  private final Family family;
  private final String algorithm;

  LockKind(String label, Family family, String algorithm) {
    this.label = label;
    this.family = family;
    this.algorithm = algorithm;
  }

  /** The kind in lower case, as messages and metric tags show it. */
  public String label() {
    return label;
  }

  /** The family of this kind: one holder, or as many as there are slots. */
  public Family family() {
    return family;
  }

  /** The lower-case name, as tools show it, that distinguishes the kind within its family. */
  public String algorithm() {
    return algorithm;
  }
}
