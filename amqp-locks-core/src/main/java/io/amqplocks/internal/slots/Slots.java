package io.amqplocks.internal.slots;

import io.amqplocks.admin.SlotSemaphoreAdmin;
import io.amqplocks.internal.broker.AuxiliaryConnection;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.Futures;
import io.amqplocks.internal.broker.QueueNames;
import io.amqplocks.internal.slots.probe.ExistenceProbe;
import io.amqplocks.internal.slots.probe.Presence;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockName;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/**
 * The slots of one semaphore, as probes see them. If their number is about what it was last time,
 * all of A and B are probed in one round trip. If not, it takes a few more, each with twice as many
 * slots as the one before.
 */
public final class Slots {

  /**
   * How many slots an administrator probes at once. With this number, a thousand slots take one
   * round trip.
   */
  private static final int LARGE_LOOK = 1024;

  /** How long a broker may need to tidy up after a client that held many queues. */
  private static final Duration TIDYING = Duration.ofSeconds(1);

  private static final Duration SHORTEST_PAUSE = Duration.ofMillis(5);

  private final LockName name;
  private final QueueNames names;
  private final ExistenceProbe probe;
  private final SlotCounts counts;

  /** The slots of that semaphore. */
  public Slots(LockName name, QueueNames names, ExistenceProbe probe, SlotCounts counts) {
    this.name = name;
    this.names = names;
    this.probe = probe;
    this.counts = counts;
  }

  /**
   * Scans, and repeats the scan while it finds no free slot but unknown ones. A queue whose owner
   * died is neither present nor absent until the broker has tidied up. On 4.3 that takes
   * milliseconds for each queue of that owner.
   */
  SlotScan scanAgain(Call call, AuxiliaryConnection prober) {
    Again again = new Again(call, prober);
    SlotScan scan = scan(call, prober);
    while (scan.free().isEmpty() && scan.unknown() > 0 && again.mayTry()) {
      scan = scan(call, prober);
    }
    return scan;
  }

  /** Limits how long probes with an unknown answer are repeated. For one thread. */
  private static final class Again {
    private final Call call;
    private final AuxiliaryConnection prober;
    private final long end;
    private long pause = SHORTEST_PAUSE.toNanos();

    Again(Call call, AuxiliaryConnection prober) {
      this.call = call;
      this.prober = prober;
      // A node that is down stays down, and the caller is to learn that soon.
      end = call.ticker().nanos() + Math.min(TIDYING.toNanos(), call.remainingNanos() / 2);
    }

    /** Pauses, if there is time for another try. */
    boolean mayTry() {
      if (prober.blocked().isDone() || end - call.ticker().nanos() < pause) {
        return false;
      }
      Futures.pause(pause);
      pause *= 2;
      return true;
    }
  }

  /** Probes slots and holders until the end of the slots is seen. */
  SlotScan scan(Call call, AuxiliaryConnection prober) {
    SlotScan scan = SlotScan.NOTHING;
    int look = counts.guess(name) + 1;
    while (!scan.complete() && scan.count() < SlotSemaphoreAdmin.MAX_SLOTS) {
      int from = scan.count() + 1;
      List<String> queues = new ArrayList<>(2 * look);
      IntStream.range(from, from + look).mapToObj(this::slotQueue).forEach(queues::add);
      IntStream.range(from, from + look).mapToObj(this::holderQueue).forEach(queues::add);
      // At most half of the time, because a free slot still has to be acquired.
      List<Presence> answers = probe.probe(call.half(), prober, queues);
      scan = scan.then(answers.subList(0, look), answers.subList(look, 2 * look));
      if (answers.contains(Presence.UNKNOWN)) {
        // The reason is an alarm, or a node that is down. More probes would not help.
        return scan;
      }
      look *= 2;
    }
    counts.saw(name, scan.count());
    return scan;
  }

  /**
   * Counts the slots from the first one until one is certainly absent. Does not probe holders.
   *
   * @throws LockException.Unanswered if a slot gave no certain answer
   */
  public int count(Call call, AuxiliaryConnection prober) {
    int present = presentFromTheFirst(call, prober);
    counts.saw(name, present);
    return present;
  }

  /** The number of slots; empty if a slot gave no certain answer. */
  public OptionalInt countIfCertain(Call call, AuxiliaryConnection prober) {
    SlotScan scan = scan(call, prober);
    return scan.complete() ? OptionalInt.of(scan.count()) : OptionalInt.empty();
  }

  private int presentFromTheFirst(Call call, AuxiliaryConnection prober) {
    for (int from = 1; ; from += LARGE_LOOK) {
      Set<Integer> present = present(from, from + LARGE_LOOK - 1, call, prober);
      int end = from;
      while (present.contains(end)) {
        end++;
      }
      if (end < from + LARGE_LOOK) {
        return end - 1;
      }
    }
  }

  /**
   * The slots above the given one that exist, whether or not there are holes. It looks further up
   * until it finds none in a whole look. If there are none at all, it takes one round trip.
   */
  Set<Integer> presentAbove(int slot, Call call, AuxiliaryConnection prober) {
    Set<Integer> above = new TreeSet<>();
    int from = slot + 1;
    while (above.addAll(present(from, from + LARGE_LOOK - 1, call, prober))) {
      from += LARGE_LOOK;
    }
    return above;
  }

  /** The slots between the two numbers, inclusive, that exist, whether or not there are holes. */
  public Set<Integer> present(int from, int to, Call call, AuxiliaryConnection prober) {
    List<Integer> asked = IntStream.rangeClosed(from, to).boxed().toList();
    return present(asked, this::slotQueue, call, prober);
  }

  /** The given slots that are held, whether or not they exist. */
  public Set<Integer> held(Set<Integer> slots, Call call, AuxiliaryConnection prober) {
    return present(List.copyOf(slots), this::holderQueue, call, prober);
  }

  private Set<Integer> present(
      List<Integer> asked, IntFunction<String> queue, Call call, AuxiliaryConnection prober) {
    List<String> queues = asked.stream().map(queue::apply).toList();
    Again again = new Again(call, prober);
    List<Presence> answers = probe.probe(call, prober, queues);
    while (answers.contains(Presence.UNKNOWN) && again.mayTry()) {
      answers = probe.probe(call, prober, queues);
    }
    Set<Integer> present = new TreeSet<>();
    for (int i = 0; i < asked.size(); i++) {
      if (answers.get(i) == Presence.UNKNOWN) {
        throw new LockException.Unanswered(
            "Queue %s of %s gave no certain answer: RabbitMQ is under an alarm, its node is down,"
                    .formatted(queue.apply(asked.get(i)), call.lock())
                + " or it did not answer within the call timeout");
      }
      if (answers.get(i) == Presence.PRESENT) {
        present.add(asked.get(i));
      }
    }
    return present;
  }

  /** The name of A for the slot. */
  public String slotQueue(int slot) {
    return names.slot(name, slot);
  }

  /** The name of B for the slot. */
  String holderQueue(int slot) {
    return names.holder(name, slot);
  }
}
