package io.amqplocks.lock;

/** The families of locks; each has its own space of names. */
public enum LockKind {
  /** One holder at a time; exists as long as the broker does. */
  MUTEX("mutex"),
  /** One holder at a time; usable while an administrator has enabled it. */
  PERSISTENT_MUTEX("persistent mutex"),
  /** As many holders as an administrator created slots. */
  SEMAPHORE("semaphore"),
  /** As many holders as an administrator created tokens. */
  TOKEN_SEMAPHORE("token semaphore"),
  /** One holder at a time, always with a fencing token. */
  FENCED_MUTEX("fenced mutex");

  private final String label;

  LockKind(String label) {
    this.label = label;
  }

  /** The kind in lower case, as it stands in messages and metric tags. */
  public String label() {
    return label;
  }
}
