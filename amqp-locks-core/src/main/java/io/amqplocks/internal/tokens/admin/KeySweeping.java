package io.amqplocks.internal.tokens.admin;

import io.amqplocks.admin.KeySweep;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.tokens.admin.BrokerTokens.UnackedTokens;
import io.amqplocks.internal.tokens.admin.KeyEntry.Look;
import io.amqplocks.internal.tokens.admin.SweepSteps.Outcome;
import io.amqplocks.internal.tokens.admin.UnackedMessages.Message;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind;
import io.amqplocks.lock.LockName;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Removes the token semaphores of the keys of one name that nobody uses. The keys are in an index
 * at the broker, a queue with a message for each.
 *
 * <p>Why the index misses no semaphore: an administrator enters the key before it creates the
 * semaphore, while it has the turn. A sweep removes only entries that it has in hand, and only
 * after it had the turn and found, or made sure, that there is no semaphore. So an entry that is
 * removed was made before that, and a semaphore that is created later has another one. An entry is
 * replaced by publishing the new one first. A sweep that dies leaves an entry too many, never one
 * too few. An entry too many is dropped by the next sweep.
 *
 * <p>Sweeps may run at once: each has the entries that it took to itself.
 *
 * <p>Why one bad key does not stop the others: a key that cannot be looked at is kept. Its new
 * entry is the last one, like all entries that are kept. The next key is looked at on another
 * connection. If the index itself fails, the sweep ends and returns what it has removed.
 */
public final class KeySweeping {

  private static final Logger log = LoggerFactory.getLogger(KeySweeping.class);

  /** How many entries one sweep takes. */
  private static final int MOST = 1000;

  /** When a sweep ends, unless it ends earlier. */
  private static final Duration TIMEOUT = Duration.ofSeconds(30);

  /** How long to wait for another administrator of a key, which then counts as in use. */
  private static final Duration TURN_TIMEOUT = Duration.ofMillis(200);

  /** How a key is looked at. */
  @FunctionalInterface
  interface Looking {

    /** Runs the steps in the turn of that key, on that connection. */
    Outcome look(AdminTurn at, TokenAdminConnection on, Function<TokenSteps, Outcome> steps);
  }

  private final AdminTurn turn;
  private final int most;
  private final Duration timeout;
  private final Looking looking;

  /**
   * Creates a sweep of the keys of a name, and checks that there may be an index of them.
   *
   * @param turn the turn for that name, which is never taken
   */
  public KeySweeping(AdminTurn turn) {
    this(turn, MOST, TIMEOUT, AdminTurn::during);
  }

  /** Creates a sweep of at most so many keys in that time. */
  KeySweeping(AdminTurn turn, int most, Duration timeout, Looking looking) {
    this.turn = turn;
    this.most = most;
    this.timeout = timeout;
    this.looking = looking;
    LockId name = turn.lock();
    if (name.kind() != LockKind.TOKEN_SEMAPHORE && name.kind() != LockKind.FENCED_MUTEX) {
      throw new LockException.Invalid(
          "The keys of %s cannot be swept, only those of token semaphores and fenced mutexes; a mutex leaves nothing"
                  .formatted(name)
              + " for a key, and a slot semaphore is removed by its administrator's destroy()");
    }
    if (turn.names().hasPlainTokens(name)) {
      throw new LockException.Invalid(
          "The keys of %s cannot be swept: it follows the plain protocol, which has no index of keys"
              .formatted(name));
    }
    name.name()
        .withoutKey()
        .ifPresent(
            base -> {
              throw new LockException.Invalid(
                  "The %s has a key itself; sweep all keys by the name without one, '%s'"
                      .formatted(name, base));
            });
  }

  /** Sweeps as {@link io.amqplocks.admin.LockAdmin#sweepKeys} says. */
  public KeySweep sweep(Duration unused) {
    if (unused.isNegative()) {
      throw new LockException.Invalid(
          "The keys of %s cannot have been unused for %s; use zero or more"
              .formatted(turn.lock(), unused));
    }
    String index = turn.names().keys(turn.lock());
    try (TokenAdminConnection connection = turn.connect()) {
      if (connection.count(turn.call(), index).isEmpty()) {
        return new KeySweep(List.of(), 0, 0);
      }
      try (UnackedTokens entries =
          new UnackedTokens(
              connection.unacked(turn.call(), index, TokenQueueType.QUORUM), turn::call)) {
        return sweep(connection, index, entries, unused);
      }
    }
  }

  private KeySweep sweep(
      TokenAdminConnection index, String queue, UnackedTokens entries, Duration unused) {
    try (Worker worker = new Worker(turn)) {
      return sweep(index, queue, entries, worker, unused);
    }
  }

  private KeySweep sweep(
      TokenAdminConnection index,
      String queue,
      UnackedTokens entries,
      Worker worker,
      Duration unused) {
    Call bound = Call.on(turn.lock(), timeout, turn.ticker());
    Map<LockName, List<Message>> keys = sorted(entries);
    List<LockName> removed = new ArrayList<>();
    // Each removal puts an entry back, which 3.10 appends to the others. So there are few removals.
    List<Message> old = new ArrayList<>();
    int kept = 0;
    int notTaken = index.count(turn.call(), queue).orElse(0);
    try {
      for (Map.Entry<LockName, List<Message>> key : keys.entrySet()) {
        if (bound.remainingNanos() == 0) {
          break;
        }
        Outcome outcome = look(worker, key.getKey(), lastLook(key.getValue()), unused);
        if (outcome.isGone()) {
          removed.add(key.getKey());
        } else {
          // Also if nothing has changed: the new entry is the last one, so all keys have their
          // turn.
          String entry = new KeyEntry(key.getKey(), outcome.look()).toString();
          index.publish(turn.call(), queue, List.of(entry));
          kept++;
        }
        old.addAll(key.getValue());
      }
      entries.remove(old);
    } catch (LockException.Interrupted | LockException.Closed e) {
      throw e;
    } catch (LockException e) {
      if (removed.isEmpty()) {
        throw e;
      }
      log.warn("A sweep of the keys of {} ended early: {}", turn.lock(), e.getMessage());
    }
    int left = notTaken + keys.size() - removed.size() - kept;
    log.info(
        "A sweep of the keys of {} removed {}, kept {} and left {}",
        turn.lock(),
        removed.size(),
        kept,
        left);
    return new KeySweep(removed, kept, left);
  }

  /** The entries by their keys. A message that is no entry for this name is removed. */
  private Map<LockName, List<Message>> sorted(UnackedTokens entries) {
    Map<LockName, List<Message>> keys = new LinkedHashMap<>();
    List<Message> strange = new ArrayList<>();
    for (Message message : entries.take(most)) {
      Optional<LockName> key =
          KeyEntry.parse(message.text())
              .map(KeyEntry::lock)
              .filter(lock -> lock.withoutKey().filter(turn.lock().name()::equals).isPresent());
      key.ifPresentOrElse(
          lock -> keys.computeIfAbsent(lock, same -> new ArrayList<>()).add(message),
          () -> strange.add(message));
    }
    if (!strange.isEmpty()) {
      log.warn(
          "{} messages in the index of the keys of {} name no key and were removed; see who may publish to"
              + " the default exchange",
          strange.size(),
          turn.lock());
      entries.remove(strange);
    }
    return keys;
  }

  /**
   * What was seen at the last look. Of several entries only one can be right, since each look
   * changes what the next one has to see. A wrong one makes the lock seem used. An entry without a
   * look may be newer than the others: somebody may have created the lock since.
   */
  private static @Nullable Look lastLook(List<Message> entries) {
    List<KeyEntry> parsed =
        entries.stream().flatMap(message -> KeyEntry.parse(message.text()).stream()).toList();
    if (parsed.stream().anyMatch(entry -> entry.look() == null)) {
      return null;
    }
    return parsed.stream()
        .map(KeyEntry::look)
        .filter(Objects::nonNull)
        .max(Comparator.comparingLong(Look::returns))
        .orElse(null);
  }

  /**
   * A key that cannot be looked at now is kept, whatever the reason. Nothing is known of it then,
   * so it counts as in use.
   */
  private Outcome look(Worker worker, LockName key, @Nullable Look before, Duration unused) {
    AdminTurn at = turn.of(new LockId(turn.lock().kind(), key), TURN_TIMEOUT);
    long now = turn.clock().instant().getEpochSecond();
    try {
      return looking.look(
          at,
          worker.connection(),
          steps -> new SweepSteps(steps).sweep(before, now, unused.toSeconds()));
    } catch (LockException.Interrupted | LockException.Closed e) {
      throw e;
    } catch (LockException.AcquireTimeout e) {
      log.debug("The {} is not looked at: {}", at.lock(), e.getMessage());
    } catch (LockException e) {
      log.warn("The {} could not be looked at: {}", at.lock(), e.getMessage());
      worker.close();
    }
    return Outcome.IN_USE;
  }

  /**
   * The connection to look by, which serves one key after the other. After a failed step it is
   * closed, and the next key has another one.
   *
   * <p>Concurrency: for one thread.
   */
  private static final class Worker implements AutoCloseable {
    private final AdminTurn turn;
    private @Nullable TokenAdminConnection open;

    Worker(AdminTurn turn) {
      this.turn = turn;
    }

    TokenAdminConnection connection() {
      TokenAdminConnection present = open;
      if (present == null) {
        present = turn.connect();
        open = present;
      }
      return present;
    }

    @Override
    public void close() {
      TokenAdminConnection present = open;
      open = null;
      if (present != null) {
        present.close();
      }
    }
  }
}
