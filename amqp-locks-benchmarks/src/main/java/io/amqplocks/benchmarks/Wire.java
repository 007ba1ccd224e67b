package io.amqplocks.benchmarks;

import com.rabbitmq.client.Command;
import com.rabbitmq.client.TrafficListener;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Collectors;

/** Writes down what goes over the wire, and when. Safe for any number of threads. */
final class Wire implements TrafficListener {

  private final ConcurrentLinkedQueue<Event> events = new ConcurrentLinkedQueue<>();

  private record Event(long nanos, boolean sent, String method) {}

  /**
   * Commands that went one way without one the other way in between.
   *
   * @param label the way and the methods
   * @param nanos when the last of them went, since the operation began
   */
  record Leg(String label, long nanos) {}

  @Override
  public void write(Command command) {
    note(true, command);
  }

  @Override
  public void read(Command command) {
    note(false, command);
  }

  private void note(boolean sent, Command command) {
    events.add(new Event(System.nanoTime(), sent, command.getMethod().protocolMethodName()));
  }

  /** What went since the last call, as seen from the time when the operation began. */
  List<Leg> legs(long begun) {
    List<Leg> legs = new ArrayList<>();
    List<Event> run = new ArrayList<>();
    for (Event event = events.poll(); event != null; event = events.poll()) {
      if (!run.isEmpty() && run.get(0).sent != event.sent) {
        legs.add(leg(run, begun));
        run.clear();
      }
      run.add(event);
    }
    if (!run.isEmpty()) {
      legs.add(leg(run, begun));
    }
    return legs;
  }

  private static Leg leg(List<Event> run, long begun) {
    String methods =
        run.stream().map(Event::method).distinct().sorted().collect(Collectors.joining(", "));
    long last = run.get(run.size() - 1).nanos;
    return new Leg((run.get(0).sent ? "-> " : "<- ") + methods, last - begun);
  }
}
