package io.amqplocks.internal.broker;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind;
import io.amqplocks.lock.LockName;
import java.util.List;
import java.util.stream.IntStream;
import java.util.zip.CRC32;

/**
 * The counter from which the fencing tokens of a slot are drawn.
 *
 * <p>Each slot of a lock without a key has a counter of its own. The locks with keys of one kind
 * and name share {@value #SHARED} counters, so a new key leaves nothing at the broker. Tokens of
 * each key rise because the tokens of its counter do.
 *
 * <p>Which counter it is follows from the lock and the slot alone. Two processes that disagreed
 * would draw tokens that do not rise. So the number of counters and the hash are part of the
 * protocol, and no setting changes them.
 *
 * @param kind the kind of the locks that draw from it
 * @param name the name of its lock; for a shared counter, the name that its locks have before their
 *     keys
 * @param shared whether locks with keys share it
 * @param number the slot; for a shared counter, its number from 1 to {@value #SHARED}
 */
public record FenceCounter(LockKind kind, LockName name, boolean shared, int number) {

  /** How many counters the locks with keys of one kind and name share. */
  public static final int SHARED = 16;

  /** The counter of that slot of that lock. */
  public static FenceCounter of(LockId lock, int slot) {
    return lock.name()
        .withoutKey()
        .map(name -> new FenceCounter(kind(lock), name, true, shared(lock.name(), slot)))
        .orElseGet(() -> new FenceCounter(kind(lock), lock.name(), false, slot));
  }

  /** The counters that the locks with keys of that kind and name share. */
  public static List<FenceCounter> sharedBy(LockId name) {
    return IntStream.rangeClosed(1, SHARED)
        .mapToObj(number -> new FenceCounter(kind(name), name.name(), true, number))
        .toList();
  }

  /** A reader draws from the counter of the writers, so that each of them knows who is older. */
  private static LockKind kind(LockId lock) {
    return lock.kind() == LockKind.READ_LOCK ? LockKind.WRITE_LOCK : lock.kind();
  }

  /** The slots of one key follow each other, so that they seldom meet at one counter. */
  private static int shared(LockName keyed, int slot) {
    CRC32 hash = new CRC32();
    hash.update(keyed.value().getBytes(UTF_8));
    return 1 + (int) ((hash.getValue() + slot - 1) % SHARED);
  }

  /** The counter as messages name it. */
  @Override
  public String toString() {
    LockId lock = new LockId(kind, name);
    return shared
        ? "counter %d of those that the keys of %s share".formatted(number, lock)
        : "the counter of slot %d of %s".formatted(number, lock);
  }
}
