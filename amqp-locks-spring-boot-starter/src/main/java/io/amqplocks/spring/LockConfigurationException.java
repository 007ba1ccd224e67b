package io.amqplocks.spring;

import org.jspecify.annotations.Nullable;

/**
 * What properties, annotations or beans say of the locks is wrong, or does not fit the broker: found
 * at startup, where Spring Boot's failure analysis shows both of its parts.
 */
public final class LockConfigurationException extends IllegalStateException {

  private static final long serialVersionUID = 1L;

  private final String description;
  private final String action;

  /**
   * With those whole sentences.
   *
   * @param description what is wrong
   * @param action what to do about it
   */
  public LockConfigurationException(String description, String action, @Nullable Throwable cause) {
    super(description + " " + action, cause);
    this.description = description;
    this.action = action;
  }

  /** As above, if nothing caused it. */
  public LockConfigurationException(String description, String action) {
    this(description, action, null);
  }

  /** What is wrong. */
  public String description() {
    return description;
  }

  /** What to do about it. */
  public String action() {
    return action;
  }
}
