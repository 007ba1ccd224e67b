package io.amqplocks.consumer;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Which message is next where each comes by two ways: from the tracking queue, which keeps it until
 * it is settled, and through the active queue, which may be sooner. A message is the same by both
 * ways if its id is. One without an id is handled from the tracking queue only.
 *
 * <p>What the tracking queue has sent goes first. Messages from before this consumer was active are
 * handled before later ones. Only when all that was there at the beginning has come, and nothing of
 * it is left to handle, is a message taken that came through the active queue. Its copy in the
 * tracking queue is settled when it comes. So messages that have ids are handled in the order of
 * the tracking queue, as far as both ways have the same order.
 *
 * <p>Nothing is lost if the active queue brings nothing: all messages then come from the tracking
 * queue. A message that is not in the tracking queue stays ahead of it for ever. When {@code most}
 * are, messages are handled from the tracking queue alone. What then comes through the active queue
 * is dropped, the eldest first.
 *
 * <p>A pure state, for one thread at a time.
 *
 * @param <M> a message
 */
final class TwoWays<M> {

  /** Does to the broker's copies what is decided here. */
  interface Broker<M> {
    /** Acknowledges or rejects a copy. */
    void settle(M copy, boolean rejected);

    /** Puts a copy from the tracking queue back to its place. */
    void giveBack(M copy);
  }

  private final Function<M, @Nullable String> idOf;
  private final Broker<M> broker;
  private final HandledIds handled;
  private final int most;

  /** What was in the tracking queue at the beginning and has not come yet. */
  private long backlog;

  /** To be handled, from the tracking queue. */
  private final Deque<M> tracked = new ArrayDeque<>();

  /** To be handled, through the active queue. */
  private final Map<String, M> active = new LinkedHashMap<>();

  /** Handled, with a copy in the tracking queue that has not come yet; whether it was rejected. */
  private final Map<String, Boolean> ahead = new HashMap<>();

  private @Nullable M inHand;
  private @Nullable String idInHand;
  private boolean inHandByActive;

  /** From the tracking queue, if the one in hand came through the active queue. */
  private @Nullable M copyOfInHand;

  /**
   * Begins with nothing.
   *
   * @param backlog how many messages the tracking queue has that may not come through the active
   *     queue
   * @param most how many messages may be handled before their copies in the tracking queue have
   *     come
   */
  TwoWays(
      Function<M, @Nullable String> idOf,
      Broker<M> broker,
      HandledIds handled,
      long backlog,
      int most) {
    this.idOf = idOf;
    this.broker = broker;
    this.handled = handled;
    this.backlog = backlog;
    this.most = most;
  }

  /** The tracking queue has sent this. */
  void cameByTracking(M copy) {
    backlog = Math.max(0, backlog - 1);
    String id = idOf.apply(copy);
    if (id != null && inHandByActive && copyOfInHand == null && id.equals(idInHand)) {
      copyOfInHand = copy;
      return;
    }
    Boolean rejected = id == null ? null : ahead.remove(id);
    if (rejected != null) {
      broker.settle(copy, rejected);
    } else if (!settledBefore(copy, id)) {
      tracked.add(copy);
    }
  }

  /** The active queue has sent this. */
  void cameByActive(M copy) {
    String id = idOf.apply(copy);
    if (id == null
        || id.equals(idInHand)
        || handled.rejected(id) != null
        || active.putIfAbsent(id, copy) != null) {
      broker.settle(copy, false);
    } else if (active.size() > most) {
      leaveEldestToTracking();
    }
  }

  /** If this kept more, the broker would keep what it cannot send any more. */
  private void leaveEldestToTracking() {
    Iterator<M> eldest = active.values().iterator();
    broker.settle(eldest.next(), false);
    eldest.remove();
    backlog++;
  }

  private boolean settledBefore(M copy, @Nullable String id) {
    Boolean rejected = id == null ? null : handled.rejected(id);
    if (rejected != null) {
      broker.settle(copy, rejected);
    }
    return rejected != null;
  }

  /** Takes a message in hand; null if there is none to handle now. None may be in hand. */
  @Nullable M next() {
    for (M copy = tracked.poll(); copy != null; copy = tracked.poll()) {
      String id = idOf.apply(copy);
      if (!settledBefore(copy, id)) {
        M other = id == null ? null : active.remove(id);
        if (other != null) {
          broker.settle(other, false);
        }
        return take(copy, id, false);
      }
    }
    Iterator<Map.Entry<String, M>> first = active.entrySet().iterator();
    if (backlog > 0 || ahead.size() >= most || !first.hasNext()) {
      return null;
    }
    Map.Entry<String, M> entry = first.next();
    first.remove();
    return take(entry.getValue(), entry.getKey(), true);
  }

  private M take(M copy, @Nullable String id, boolean byActive) {
    inHand = copy;
    idInHand = id;
    inHandByActive = byActive;
    return copy;
  }

  /** The message in hand was handled, or rejected by its handler. */
  void settle(boolean rejected) {
    M copy = inHand;
    String id = idInHand;
    if (copy == null) {
      return;
    }
    if (id != null) {
      handled.add(id, rejected);
    }
    if (!inHandByActive) {
      broker.settle(copy, rejected);
    } else {
      broker.settle(copy, false);
      if (copyOfInHand != null) {
        broker.settle(copyOfInHand, rejected);
      } else if (id != null) {
        ahead.put(id, rejected);
      }
    }
    nothingInHand();
  }

  /** The message in hand is not handled. */
  void giveBackInHand() {
    M back = inHandByActive ? copyOfInHand : inHand;
    if (back != null) {
      broker.giveBack(back);
    }
    nothingInHand();
  }

  private void nothingInHand() {
    inHand = null;
    idInHand = null;
    inHandByActive = false;
    copyOfInHand = null;
  }

  /** Whether a copy is still to come of what was handled, or is in hand. */
  boolean awaitsCopies() {
    return !ahead.isEmpty() || (inHandByActive && copyOfInHand == null);
  }

  /** Gives back all that is not in hand. */
  void giveBackRest() {
    active.clear();
    for (M copy = tracked.poll(); copy != null; copy = tracked.poll()) {
      if (!settledBefore(copy, idOf.apply(copy))) {
        broker.giveBack(copy);
      }
    }
  }
}
