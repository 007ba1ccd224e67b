package io.amqplocks.benchmarks.peers;

/** A server is not on this machine; the message says which. Its peer is skipped. */
final class NotInstalledException extends Exception {

  private static final long serialVersionUID = 1;

  NotInstalledException(String message) {
    super(message);
  }
}
