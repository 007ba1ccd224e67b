package io.amqplocks.inmemory;

import java.util.concurrent.ThreadFactory;

/** Makes the threads of the locks. None of them keeps a process alive. */
final class Threads {

  private Threads() {}

  static ThreadFactory named(String purpose) {
    return task -> {
      Thread thread = new Thread(task, "amqp-locks-in-memory-" + purpose);
      thread.setDaemon(true);
      return thread;
    };
  }
}
