package io.amqplocks.internal.slots.probe;

import io.amqplocks.internal.broker.AuxiliaryConnection;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.ProbeKind;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;

/** Finds out which queues exist, many at a time. */
@FunctionalInterface
public interface ExistenceProbe {

  /**
   * Probes all of the queues at once. May be called by any number of threads.
   *
   * @param prober the connection to use
   * @return an answer for each queue, in their order; UNKNOWN for those without one within the
   *     bound. If a connection or channel must be opened first, this may take longer by the call
   *     timeout
   * @throws LockException.Unreachable if the connection breaks
   * @throws LockException.Refused if the user has no permission for such a probe
   */
  List<Presence> probe(Call call, AuxiliaryConnection prober, List<String> queues);

  /** The probe of that kind, or of another where the broker needs another. */
  static ExistenceProbe of(ProbeKind kind) {
    Map<ProbeKind, ExistenceProbe> probes =
        Arrays.stream(ProbeKind.values())
            .collect(Collectors.toMap(each -> each, ExistenceProbe::only));
    return (call, prober, queues) ->
        Objects.requireNonNull(probes.get(prober.broker().probing(kind)))
            .probe(call, prober, queues);
  }

  private static ExistenceProbe only(ProbeKind kind) {
    return switch (kind) {
      case CONFIRM -> new ConfirmProbe();
      case PASSIVE -> new PassiveProbe();
      case TRANSACTION -> new TransactionProbe();
    };
  }
}
