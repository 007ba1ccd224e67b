package io.amqplocks.sample.demo;

import io.amqplocks.sample.receiver.UploadCount;
import java.util.Optional;
import java.util.Set;

/** Whether a demo showed what it should, from what was counted. */
final class Verdict {

  private Verdict() {}

  /**
   * What is wrong, if anything is.
   *
   * @param slots how many slots there were
   * @param count what the receiver counted
   * @param kills how many workers were killed
   * @param freed the slots that a killed worker held and nobody has taken since
   */
  static Optional<String> on(
      DemoOptions options,
      SlotNumbers slots,
      UploadCount.Snapshot count,
      int kills,
      Set<Integer> freed) {
    if (count.most() > slots.most()) {
      return Optional.of("More uploads at once than there are slots");
    }
    if (options.kill()) {
      return onKill(count, kills, freed);
    }
    // There is always more work than slots, so that a slot that stays empty is a fault too.
    int expected = expected(options, slots);
    return count.most() < expected
        ? Optional.of("Never %d uploads at once: slots stayed unused".formatted(expected))
        : Optional.empty();
  }

  /** After a resize it need not have been seen with each number of slots. */
  private static int expected(DemoOptions options, SlotNumbers slots) {
    return Math.min(slots.least(), options.threads());
  }

  /** Whether it would be the same whatever came after; else more may yet be seen. */
  static boolean isFinal(
      DemoOptions options,
      SlotNumbers slots,
      UploadCount.Snapshot count,
      int kills,
      Set<Integer> freed) {
    return count.most() > slots.most()
        || (count.most() >= expected(options, slots)
            && on(options, slots, count, kills, freed).isEmpty());
  }

  private static Optional<String> onKill(
      UploadCount.Snapshot count, int kills, Set<Integer> freed) {
    if (kills == 0) {
      return Optional.of("No worker was killed: none was seen in the middle of an upload");
    }
    if (count.failed() == 0) {
      return Optional.of("The receiver saw no upload break off: the kill came too late");
    }
    return freed.isEmpty()
        ? Optional.empty()
        : Optional.of("Slots that stayed unused after the kill: " + freed);
  }
}
