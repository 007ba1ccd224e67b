package io.amqplocks.inmemory;

import io.amqplocks.lock.LockListener;
import io.amqplocks.lock.LockObserver;
import java.util.ArrayList;
import java.util.List;

/** The settings of {@link InMemoryLocks}. */
public final class InMemoryLocksBuilder {

  final List<LockListener> listeners = new ArrayList<>();
  final List<LockObserver> observers = new ArrayList<>();
  boolean timeStandsStill;

  InMemoryLocksBuilder() {}

  /** Adds a listener. */
  public InMemoryLocksBuilder listener(LockListener listener) {
    listeners.add(listener);
    return this;
  }

  /** Adds an observer. */
  public InMemoryLocksBuilder observer(LockObserver observer) {
    observers.add(observer);
    return this;
  }

  /**
   * Stops the time of the locks. It then goes on by {@link InMemoryLocks#advance} only. A call that
   * waits for a busy lock waits until a slot comes free or the test has advanced the time. So do
   * calls in an outage.
   */
  public InMemoryLocksBuilder timeStandsStill() {
    timeStandsStill = true;
    return this;
  }

  /** Creates the locks. */
  public InMemoryLocks build() {
    return new InMemoryLocks(this);
  }
}
