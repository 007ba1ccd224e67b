package io.amqplocks.prover.budget;

import com.rabbitmq.client.AMQP;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What an operation took.
 *
 * @param sent methods that the client sent
 * @param received methods that the broker sent
 * @param roundTrips requests that were answered one after the other before the operation returned
 * @param opened channels opened
 * @param closed channels closed, by either side
 * @param writes queues created and deleted, and other changes of what the broker stores about them
 */
record Figures(int sent, int received, int roundTrips, int opened, int closed, int writes) {

  /** The names of the figures, in the order of {@link #values()}. */
  static final List<String> NAMES =
      List.of("sent", "received", "round-trips", "opened", "closed", "writes");

  List<Integer> values() {
    return List.of(sent, received, roundTrips, opened, closed, writes);
  }

  /**
   * Counts what passed between two moments.
   *
   * @param all all that ever passed, which says which queues there are
   * @param from where the operation began
   * @param returned where it returned; what comes after that was not waited for
   */
  static Figures count(List<MethodFrame> all, int from, int returned) {
    List<MethodFrame> frames = all.subList(from, all.size());
    return new Figures(
        (int) frames.stream().filter(MethodFrame::sent).count(),
        (int) frames.stream().filter(frame -> !frame.sent()).count(),
        roundTrips(all.subList(from, returned)),
        named(frames, "channel.open"),
        named(frames, "channel.close"),
        writes(all, from));
  }

  private static int named(List<MethodFrame> frames, String name) {
    return (int) frames.stream().filter(frame -> frame.name().equals(name)).count();
  }

  /**
   * A round trip ends with an answer to a request that was sent after the last one ended. So
   * requests of which none waits for another, such as a batch of publishes, are one round trip.
   */
  static int roundTrips(List<MethodFrame> frames) {
    int trips = 0;
    int ended = -1;
    for (int i = 0; i < frames.size(); i++) {
      if (!frames.get(i).sent() && request(frames, i) > ended) {
        trips++;
        ended = i;
      }
    }
    return trips;
  }

  /** Where the newest request is that this may be the answer to; -1 if there is none. */
  private static int request(List<MethodFrame> frames, int answer) {
    for (int i = answer - 1; i >= 0; i--) {
      MethodFrame frame = frames.get(i);
      if (frame.sent() && answers(frames.get(answer), frame)) {
        return i;
      }
    }
    return -1;
  }

  /** A message may come because of what was returned or published on any channel. */
  private static boolean answers(MethodFrame answer, MethodFrame request) {
    if (answer.name().equals("basic.deliver")
        && Set.of("basic.nack", "basic.publish").contains(request.name())) {
      return true;
    }
    return answer.isOnChannelOf(request) && !request.name().endsWith("-ok");
  }

  /** Queues that were there before the first frame are not known, so nothing else may make any. */
  private static int writes(List<MethodFrame> all, int from) {
    Set<String> queues = new HashSet<>();
    Map<List<Integer>, MethodFrame> asked = new HashMap<>();
    List<Integer> writes = new ArrayList<>();
    for (int i = 0; i < all.size(); i++) {
      MethodFrame frame = all.get(i);
      List<Integer> channel = List.of(frame.connection(), frame.channel());
      if (frame.sent()) {
        asked.put(channel, frame);
      } else if (isWrite(frame, asked.get(channel), queues)) {
        writes.add(i);
      }
    }
    return (int) writes.stream().filter(at -> at >= from).count();
  }

  private static boolean isWrite(
      MethodFrame answer, @Nullable MethodFrame asked, Set<String> queues) {
    if (asked == null) {
      return false;
    }
    return switch (answer.name()) {
      case "queue.declare-ok" ->
          asked.method() instanceof AMQP.Queue.Declare declare
              && !declare.getPassive()
              && queues.add(declare.getQueue());
      case "queue.delete-ok" ->
          asked.method() instanceof AMQP.Queue.Delete delete && queues.remove(delete.getQueue());
      case "queue.bind-ok",
          "queue.unbind-ok",
          "exchange.declare-ok",
          "exchange.delete-ok",
          "exchange.bind-ok",
          "exchange.unbind-ok" ->
          true;
      default -> false;
    };
  }
}
