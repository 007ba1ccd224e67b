package io.amqplocks.sample.demo;

/** The demo did not show what it should. */
final class DemoFailure extends RuntimeException {

  private static final long serialVersionUID = 1L;

  DemoFailure(String message) {
    super(message);
  }
}
