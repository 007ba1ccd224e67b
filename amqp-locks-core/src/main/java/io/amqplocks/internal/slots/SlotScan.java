package io.amqplocks.internal.slots;

import io.amqplocks.internal.slots.probe.Presence;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The result of probing a semaphore's queues, as a pure function of the probes' answers.
 *
 * @param count how many slots were seen: A[1] to A[count] are not absent
 * @param complete whether the end of the slots was seen; if not, there may be more
 * @param free the slots that exist and that nobody holds
 * @param unknown how many of these slots gave no certain answer
 * @param above slots that were seen above the end, and therefore do not count
 */
record SlotScan(int count, boolean complete, List<Integer> free, int unknown, List<Integer> above) {

  /** Nothing was probed yet. */
  static final SlotScan NOTHING = new SlotScan(0, false, List.of(), 0, List.of());

  /**
   * Adds the answers for the next slots.
   *
   * @param slots A of the slots from count + 1 on
   * @param holders B of the same slots
   */
  SlotScan then(List<Presence> slots, List<Presence> holders) {
    List<Integer> nowFree = new ArrayList<>(free);
    int nowUnknown = unknown;
    for (int i = 0; i < slots.size(); i++) {
      Presence slot = slots.get(i);
      if (slot == Presence.ABSENT) {
        return new SlotScan(
            count + i, true, List.copyOf(nowFree), nowUnknown, presentAfter(i, slots));
      }
      Presence holder = holders.get(i);
      if (slot == Presence.PRESENT && holder == Presence.ABSENT) {
        nowFree.add(count + i + 1);
      } else if (slot == Presence.UNKNOWN || holder == Presence.UNKNOWN) {
        nowUnknown++;
      }
    }
    return new SlotScan(count + slots.size(), false, List.copyOf(nowFree), nowUnknown, List.of());
  }

  private List<Integer> presentAfter(int absent, List<Presence> slots) {
    return IntStream.range(absent + 1, slots.size())
        .filter(i -> slots.get(i) == Presence.PRESENT)
        .mapToObj(i -> count + i + 1)
        .toList();
  }
}
