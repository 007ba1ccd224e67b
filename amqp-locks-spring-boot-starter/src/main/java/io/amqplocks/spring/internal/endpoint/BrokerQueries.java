package io.amqplocks.spring.internal.endpoint;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind;
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Asks the broker about many locks, within a bound on the time for all of them: an operator who
 * looks because the broker does not answer shall get what is known here, and soon.
 *
 * <p>Concurrency: a thread of our own asks, one lock after the other. The caller waits for it up to
 * the bound, and then takes the answers that there are. The thread ends after the question that it
 * just asked, which the call timeout bounds. There are at most two such threads. Requests beyond
 * that wait for their turn within their bound, and leave the line when it is over, so a broker that
 * hangs piles up nothing.
 */
public final class BrokerQueries implements AutoCloseable {

  private static final Logger log = LoggerFactory.getLogger(BrokerQueries.class);
  private static final int MOST_AT_ONCE = 2;
  private static final int MOST_IN_LINE = 16;
  private static final String NO_TURN =
      "Not asked: earlier requests of this endpoint still wait for RabbitMQ";

  /**
   * Slots are looked for by publishing, which an alarm of the broker stops: let these come last.
   */
  private static final Comparator<LockId> ORDER =
      Comparator.comparing(id -> id.kind() == LockKind.SLOT_SEMAPHORE);

  private final Function<LockId, BrokerDescriptor> query;
  private final Duration bound;
  private final ThreadPoolExecutor threads;

  /**
   * Queries with that bound.
   *
   * @param query what to ask of a lock; throws a {@link LockException} if that gets no answer
   */
  BrokerQueries(Function<LockId, BrokerDescriptor> query, Duration bound) {
    this.query = query;
    this.bound = bound;
    threads =
        new ThreadPoolExecutor(
            MOST_AT_ONCE,
            MOST_AT_ONCE,
            10,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(MOST_IN_LINE),
            this::thread);
    threads.allowCoreThreadTimeOut(true);
  }

  /** Queries about those locks with that bound. */
  public static BrokerQueries about(AmqpLocks locks, Duration bound) {
    return new BrokerQueries(id -> OperatedLock.of(locks, id).describe(), bound);
  }

  private Thread thread(Runnable work) {
    Thread thread = new Thread(work, "amqp-locks endpoint");
    thread.setDaemon(true);
    return thread;
  }

  /** What the broker says of each of those locks, or why it does not. */
  Map<LockId, BrokerDescriptor> ask(Collection<LockId> locks) {
    Map<LockId, BrokerDescriptor> answers = new ConcurrentHashMap<>();
    String missing = askWithinBound(locks.stream().sorted(ORDER).toList(), answers);
    Map<LockId, BrokerDescriptor> result = new LinkedHashMap<>();
    for (LockId lock : locks) {
      BrokerDescriptor answer = answers.get(lock);
      result.put(lock, answer == null ? BrokerDescriptor.failed(missing) : answer);
    }
    return result;
  }

  private String askWithinBound(List<LockId> locks, Map<LockId, BrokerDescriptor> answers) {
    Asking asking = new Asking(locks, answers);
    try {
      FutureTask<String> asked = new FutureTask<>(asking::all);
      threads.execute(asked);
      try {
        return asked.get(TimeUnit.NANOSECONDS.convert(bound), TimeUnit.NANOSECONDS);
      } finally {
        asking.enough = true;
        threads.remove(asked);
      }
    } catch (TimeoutException e) {
      return asking.begun ? "RabbitMQ did not answer within " + bound : NO_TURN;
    } catch (RejectedExecutionException e) {
      return NO_TURN;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "Not asked: the request was interrupted";
    } catch (ExecutionException e) {
      log.error("The broker could not be asked about the locks", e.getCause());
      return "Not asked: " + e.getCause();
    }
  }

  private final class Asking {
    private final List<LockId> locks;
    private final Map<LockId, BrokerDescriptor> answers;
    private volatile boolean begun;
    private volatile boolean enough;

    Asking(List<LockId> locks, Map<LockId, BrokerDescriptor> answers) {
      this.locks = locks;
      this.answers = answers;
    }

    /** Asks about all; what to say of those that were not asked about. */
    String all() {
      begun = true;
      for (LockId lock : locks) {
        if (enough) {
          break;
        }
        try {
          answers.put(lock, query.apply(lock));
        } catch (LockException.Unreachable | LockException.Closed e) {
          answers.put(lock, BrokerDescriptor.failed(String.valueOf(e.getMessage())));
          return e instanceof LockException.Closed
              ? "Not asked: the locks are closed"
              : "Not asked: RabbitMQ cannot be reached";
        } catch (LockException e) {
          answers.put(lock, BrokerDescriptor.failed(String.valueOf(e.getMessage())));
        }
      }
      return "Not asked";
    }
  }

  @Override
  public void close() {
    threads.shutdownNow();
  }
}
