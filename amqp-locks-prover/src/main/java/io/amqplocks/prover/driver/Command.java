package io.amqplocks.prover.driver;

import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/**
 * What a client is to do: one line of JSON on its standard input. Fields that an action does not
 * need may be absent, and unknown ones are to be ignored.
 *
 * @param id the number that all events of this command carry
 * @param action what to do
 * @param uri for {@link Action#OPEN}: the broker
 * @param prefix for {@code OPEN}: the prefix of the locks' queue names
 * @param heartbeat for {@code OPEN}: the heartbeat to request, in seconds
 * @param lock the lock
 * @param slots for {@link Action#CREATE} and {@link Action#RESIZE}: how many
 * @param permits for {@link Action#WORK}: how many slots to acquire at once
 * @param fenced for {@code WORK}: whether leases need fencing tokens
 * @param reads for {@code WORK}: whether to acquire the read lock of a read-write lock; if not, the
 *     write lock
 * @param waitMillis for {@code WORK}: how long to wait for the lock; 0 does not wait
 * @param holdMicros for {@code WORK}: how long to hold it, or how long a consumer is active
 * @param pauseMicros for {@code WORK}: how long to do without it before the next cycle, or how long
 *     a consumer takes for a message
 * @param cycles for {@code WORK}: how often to acquire it, at most
 * @param untilNanos for {@code WORK}: begin no cycle after that time of the monotonic clock; for
 *     {@code RESIZE}: when it was sent
 * @param store for {@code WORK}: the JDBC URL of a database with a table {@code resource}, to whose
 *     row of the lock and slot each lease writes; null if there is none. A client that cannot do
 *     that may leave it
 */
@JsonInclude(JsonInclude.Include.NON_DEFAULT)
public record Command(
    long id,
    Action action,
    @Nullable String uri,
    @Nullable String prefix,
    int heartbeat,
    @Nullable LockRef lock,
    int slots,
    int permits,
    boolean fenced,
    boolean reads,
    long waitMillis,
    long holdMicros,
    long pauseMicros,
    int cycles,
    long untilNanos,
    @Nullable String store) {

  /** What a client can do. */
  public enum Action {
    /** Connect to a broker. The first command. */
    OPEN,
    /** Create a semaphore, or enable a persistent mutex. */
    CREATE,
    /** Change the number of slots of a semaphore. It ends when no other token is left. */
    RESIZE,
    /** Acquire, hold and release a lock, again and again. */
    WORK,
    /** Release everything and disconnect. The last command. */
    CLOSE
  }

  /** Connects a client. */
  public static Command open(long id, String uri, String prefix, int heartbeat) {
    return new Command(
        id, Action.OPEN, uri, prefix, heartbeat, null, 0, 0, false, false, 0, 0, 0, 0, 0, null);
  }

  /** Works under a lock as that load says. */
  public static Command work(long id, LockRef lock, Load load, long untilNanos) {
    return new Command(
        id,
        Action.WORK,
        null,
        null,
        0,
        lock,
        0,
        load.permits(),
        load.fenced(),
        load.reads(),
        load.waitMillis(),
        load.holdMicros(),
        load.pauseMicros(),
        Integer.MAX_VALUE,
        untilNanos,
        null);
  }

  /** The same, and each lease writes to the row of its lock and slot in that database. */
  public Command writingTo(String url) {
    return new Command(
        id,
        action,
        uri,
        prefix,
        heartbeat,
        lock,
        slots,
        permits,
        fenced,
        reads,
        waitMillis,
        holdMicros,
        pauseMicros,
        cycles,
        untilNanos,
        url);
  }

  /** Creates a lock that needs it, with that many slots. */
  public static Command create(long id, LockRef lock, int slots) {
    return new Command(
        id, Action.CREATE, null, null, 0, lock, slots, 0, false, false, 0, 0, 0, 0, 0, null);
  }

  /** Changes the number of slots of a semaphore. */
  public static Command resize(long id, LockRef lock, int slots, long now) {
    return new Command(
        id, Action.RESIZE, null, null, 0, lock, slots, 0, false, false, 0, 0, 0, 0, now, null);
  }

  /** Disconnects a client. */
  public static Command close(long id) {
    return new Command(
        id, Action.CLOSE, null, null, 0, null, 0, 0, false, false, 0, 0, 0, 0, 0, null);
  }
}
