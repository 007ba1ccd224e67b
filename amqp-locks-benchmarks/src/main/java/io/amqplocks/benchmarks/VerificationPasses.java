package io.amqplocks.benchmarks;

import com.rabbitmq.client.AMQP.Queue.Declare;
import com.rabbitmq.client.AMQP.Queue.DeclareOk;
import com.rabbitmq.client.Command;
import com.rabbitmq.client.TrafficListener;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Times verification passes as they are, from outside, by the passive declares that go over the
 * wire: from the first question to the last answer.
 *
 * <p>Concurrency: called by the threads that ask and the one that reads; one lock guards the
 * counts, and nothing is done under it but counting.
 */
final class VerificationPasses implements TrafficListener {

  /** No question for so long: the next one begins a pass. */
  private static final long PAUSE = TimeUnit.MILLISECONDS.toNanos(500);

  private final int leases;
  private final ReentrantLock guard = new ReentrantLock();
  private final BlockingQueue<Long> passes = new LinkedBlockingQueue<>();
  private long begun;
  private long last = System.nanoTime() - PAUSE;
  private int answers;

  /** Of a session with so many leases. */
  VerificationPasses(int leases) {
    this.leases = leases;
  }

  @Override
  public void write(Command command) {
    if (command.getMethod() instanceof Declare declare && declare.getPassive()) {
      guard.lock();
      try {
        long now = System.nanoTime();
        if (now - last > PAUSE) {
          begun = now;
          answers = 0;
        }
        last = now;
      } finally {
        guard.unlock();
      }
    }
  }

  @Override
  public void read(Command command) {
    if (command.getMethod() instanceof DeclareOk) {
      guard.lock();
      try {
        last = System.nanoTime();
        if (++answers == leases) {
          passes.add(last - begun);
        }
      } finally {
        guard.unlock();
      }
    }
  }

  /** How long the next pass took, in nanoseconds. */
  long next() throws InterruptedException {
    passes.clear();
    Long pass = passes.poll(2, TimeUnit.MINUTES);
    if (pass == null) {
      throw new IllegalStateException("No verification of %d leases was seen".formatted(leases));
    }
    return pass;
  }
}
