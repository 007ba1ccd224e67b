package io.amqplocks.sample.demo;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;

/** What happened lately, for the page. Any thread may add. */
final class EventLog {

  private static final int KEPT = 30;

  private final ReentrantLock lock = new ReentrantLock();
  private final Deque<Scene.Event> events = new ArrayDeque<>();
  private int added;

  /** Something happened just now. */
  void add(Scene.Event.Kind kind, String text) {
    lock.lock();
    try {
      added++;
      events.add(new Scene.Event(added, System.currentTimeMillis(), kind, text));
      if (events.size() > KEPT) {
        events.remove();
      }
    } finally {
      lock.unlock();
    }
  }

  /** The last ones, the latest last. */
  List<Scene.Event> latest() {
    lock.lock();
    try {
      return List.copyOf(events);
    } finally {
      lock.unlock();
    }
  }
}
