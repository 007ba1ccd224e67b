package io.amqplocks.spring;

import org.jspecify.annotations.Nullable;

/**
 * The configuration of the locks by properties, annotations or beans is wrong, or does not fit the
 * broker. It is thrown at startup, where Spring Boot's failure analysis shows both the description
 * and the action.
 */
public final class LockConfigurationException extends IllegalStateException {

  private static final long serialVersionUID = 1L;

  private final String description;
  private final String action;

  /**
   * Creates an exception whose message is the description and the action.
   *
   * @param description what is wrong, in whole sentences
   * @param action what to do about it, in whole sentences
   */
  public LockConfigurationException(String description, String action, @Nullable Throwable cause) {
    super(description + " " + action, cause);
    this.description = description;
    this.action = action;
  }

  /** Creates an exception without a cause. Both texts are whole sentences. */
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
