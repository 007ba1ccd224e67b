package io.amqplocks.support;

/** Cannot be logged: it throws when it is asked what it says, as one with a lazy message may. */
public final class Unspeakable extends RuntimeException {

  private static final long serialVersionUID = 1;

  @Override
  public String getMessage() {
    throw new IllegalStateException("for the test");
  }
}
