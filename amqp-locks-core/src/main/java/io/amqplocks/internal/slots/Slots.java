package io.amqplocks.internal.slots;

import io.amqplocks.internal.probe.ExistenceProbe;
import io.amqplocks.internal.probe.Presence;
import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.Futures;
import io.amqplocks.internal.session.PublishingConnection;
import io.amqplocks.internal.topology.QueueNames;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockName;
import io.amqplocks.lock.SemaphoreAdmin;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.IntFunction;
import java.util.stream.IntStream;

/**
 * The slots of one semaphore, seen by probes: all of A and B in one round trip where their number is
 * about what it was last time, else in a few, each twice as large as the one before.
 */
public final class Slots {

  /** What an administrator looks at in one go; with it a thousand slots take one round trip. */
  private static final int LARGE_LOOK = 1024;

  /** What a broker may need to tidy up after one that held many queues. */
  private static final Duration TIDYING = Duration.ofSeconds(1);

  private static final Duration SHORTEST_PAUSE = Duration.ofMillis(5);

  private final LockName name;
  private final QueueNames names;
  private final ExistenceProbe probe;
  private final SlotCounts counts;

  /** Of that semaphore. */
  public Slots(LockName name, QueueNames names, ExistenceProbe probe, SlotCounts counts) {
    this.name = name;
    this.names = names;
    this.probe = probe;
    this.counts = counts;
  }

  /**
   * The same again while it finds nothing free but something uncertain: a queue whose owner died is neither
   * there nor gone until the broker has tidied up, in milliseconds for each queue of that owner (4.3).
   */
  SlotScan scanAgain(Call call, PublishingConnection prober) {
    Again again = new Again(call, prober);
    SlotScan scan = scan(call, prober);
    while (scan.free().isEmpty() && scan.unknown() > 0 && again.mayTry()) {
      scan = scan(call, prober);
    }
    return scan;
  }

  /** How long to go on with what was answered neither yes nor no. For one thread. */
  private static final class Again {
    private final Call call;
    private final PublishingConnection prober;
    private final long end;
    private long pause = SHORTEST_PAUSE.toNanos();

    Again(Call call, PublishingConnection prober) {
      this.call = call;
      this.prober = prober;
      // A node that is down stays so: the caller shall hear of it before long.
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

  /** Looks at slots and holders until the end of the slots. */
  SlotScan scan(Call call, PublishingConnection prober) {
    SlotScan scan = SlotScan.NOTHING;
    int look = counts.guess(name) + 1;
    while (!scan.complete() && scan.count() < SemaphoreAdmin.MAX_SLOTS) {
      int from = scan.count() + 1;
      List<String> queues = new ArrayList<>(2 * look);
      IntStream.range(from, from + look).mapToObj(this::slotQueue).forEach(queues::add);
      IntStream.range(from, from + look).mapToObj(this::holderQueue).forEach(queues::add);
      // Half of the time at most: what is found free must still be taken.
      List<Presence> answers = probe.probe(call.half(), prober, queues);
      scan = scan.then(answers.subList(0, look), answers.subList(look, 2 * look));
      if (answers.contains(Presence.UNKNOWN)) {
        // An alarm, a node that is down: what is known must do, more questions would not help.
        return scan;
      }
      look *= 2;
    }
    counts.saw(name, scan.count());
    return scan;
  }

  /**
   * Counts the slots from the first on, until one is certainly absent; asks for no holder.
   *
   * @throws LockException.Unanswered if a slot gave no certain answer
   */
  public int count(Call call, PublishingConnection prober) {
    int present = presentFrom(1, call, prober);
    counts.saw(name, present);
    return present;
  }

  /** How many slots there are in an unbroken run from that one on. */
  public int presentFrom(int first, Call call, PublishingConnection prober) {
    for (int from = first; ; from += LARGE_LOOK) {
      Set<Integer> present = present(from, from + LARGE_LOOK - 1, call, prober);
      int end = from;
      while (present.contains(end)) {
        end++;
      }
      if (end < from + LARGE_LOOK) {
        return end - first;
      }
    }
  }

  /** Which of the slots from the one to the other are there, holes or not. */
  public Set<Integer> present(int from, int to, Call call, PublishingConnection prober) {
    List<Integer> asked = IntStream.rangeClosed(from, to).boxed().toList();
    return present(asked, this::slotQueue, call, prober);
  }

  /** Which of these slots are held, whether they are there or not. */
  public Set<Integer> held(Set<Integer> slots, Call call, PublishingConnection prober) {
    return present(List.copyOf(slots), this::holderQueue, call, prober);
  }

  private Set<Integer> present(
      List<Integer> asked, IntFunction<String> queue, Call call, PublishingConnection prober) {
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

  /** A of the slot. */
  public String slotQueue(int slot) {
    return names.slot(name, slot);
  }

  /** B of the slot. */
  String holderQueue(int slot) {
    return names.holder(name, slot);
  }
}
