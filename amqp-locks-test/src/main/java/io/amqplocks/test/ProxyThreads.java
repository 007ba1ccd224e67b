package io.amqplocks.test;

import java.io.Closeable;
import java.io.IOException;

/** Threads and sockets of the proxy that end without anybody's care. */
final class ProxyThreads {

  private ProxyThreads() {}

  static Thread start(String name, Runnable task) {
    Thread thread = new Thread(task, "tcp-proxy-" + name);
    thread.setDaemon(true);
    thread.start();
    return thread;
  }

  static void awaitEnd(Thread thread) {
    try {
      thread.join(30_000);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  static void closeQuietly(Closeable socket) {
    try {
      socket.close();
    } catch (IOException gone) {
      // That is all that was wanted.
    }
  }
}
