package io.amqplocks.support;

import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockListener;
import io.amqplocks.lock.LossReason;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;

/** Writes down what a listener hears. */
public final class Recorder implements LockListener {

  public final List<String> heard = new CopyOnWriteArrayList<>();

  @Override
  public void acquired(Lease lease, Duration waited) {
    heard.add("acquired " + lease.lock());
  }

  @Override
  public void notAcquired(LockId lock, Outcome outcome, Duration waited) {
    heard.add(outcome + " " + lock);
  }

  @Override
  public void released(Lease lease, Duration held) {
    heard.add("released " + lease.lock());
  }

  @Override
  public void lost(Lease lease, LossReason reason, Duration held) {
    heard.add("lost " + lease.lock() + " " + reason.cause());
  }

  @Override
  public void sessionOpened() {
    heard.add("session opened");
  }

  @Override
  public void sessionEnded(String detail) {
    heard.add("session ended");
  }
}
