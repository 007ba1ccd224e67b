package io.amqplocks.spring.internal.observation;

import io.amqplocks.lock.LockId;
import io.amqplocks.spring.observation.LockAcquireContext;
import io.amqplocks.spring.observation.LockContext;
import io.amqplocks.spring.observation.LockHoldContext;
import io.amqplocks.spring.observation.LockObservation;
import io.micrometer.common.KeyValue;
import io.micrometer.common.KeyValues;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationConvention;
import io.micrometer.observation.ObservationFilter;
import io.micrometer.observation.ObservationRegistry;
import java.util.ArrayList;
import java.util.List;

/**
 * An observation as it will be at its end, so that its meters can be there from the start. A meter
 * that appears only with its first event hides that event from those who watch its rate.
 *
 * @param name what it is called
 * @param description what its timer measures, in words for the registry
 * @param tags its keys of low cardinality when it ends, as conventions and filters make them
 * @param error the class of what was thrown, as the handler of meters tags it
 * @param event what happens to it; empty if nothing does
 * @param eventTags its keys of low cardinality when that happens, which no filter has seen
 */
public record ExpectedObservation(
    String name,
    String description,
    KeyValues tags,
    String error,
    String event,
    KeyValues eventTags) {

  /** What the timer of calls measures. */
  public static final String CALL = "From the call for a lock to its end";

  /** What the timer of leases measures. */
  public static final String LEASE = "From the acquire of a lease to its release or loss";

  /** The observations to expect of a lock; none where they are switched off. */
  public static List<ExpectedObservation> of(
      LockId lock, String name, LockObservations observations, List<ObservationFilter> filters) {
    List<ExpectedObservation> result = new ArrayList<>();
    List<String[]> calls =
        List.of(
            new String[] {"acquired", KeyValue.NONE_VALUE},
            new String[] {"busy", KeyValue.NONE_VALUE},
            new String[] {"timeout", "AcquireTimeout"},
            new String[] {"interrupted", KeyValue.NONE_VALUE},
            new String[] {"interrupted", "InterruptedException"},
            new String[] {"error", "Unreachable"},
            new String[] {"error", "Unanswered"},
            new String[] {"error", "NotFound"},
            new String[] {"error", "Closed"});
    ObservationRegistry registry = observations.registry();
    for (String[] call : calls) {
      LockAcquireContext context = new LockAcquireContext(lock, name);
      context.setOutcome(call[0]);
      expect(
          context, observations.acquireConvention(), CALL, registry, filters, call[1], "", result);
    }
    for (String end : List.of("released", "lost")) {
      LockHoldContext context = new LockHoldContext(lock, name);
      context.setOutcome(end);
      String event = end.equals("lost") ? LockObservation.Events.LOST.getName() : "";
      expect(
          context,
          observations.holdConvention(),
          LEASE,
          registry,
          filters,
          KeyValue.NONE_VALUE,
          event,
          result);
    }
    return result;
  }

  private static <C extends LockContext> void expect(
      C context,
      ObservationConvention<C> convention,
      String description,
      ObservationRegistry registry,
      List<ObservationFilter> filters,
      String error,
      String event,
      List<ExpectedObservation> result) {
    Observation observation = Observation.createNotStarted(convention, () -> context, registry);
    String name = convention.getName();
    if (observation.isNoop() || name == null) {
      return;
    }
    KeyValues tags = convention.getLowCardinalityKeyValues(context);
    context.setName(name);
    context.addLowCardinalityKeyValues(tags);
    Observation.Context filtered = context;
    for (ObservationFilter filter : filters) {
      filtered = filter.map(filtered);
    }
    result.add(
        new ExpectedObservation(
            name, description, filtered.getLowCardinalityKeyValues(), error, event, tags));
  }
}
