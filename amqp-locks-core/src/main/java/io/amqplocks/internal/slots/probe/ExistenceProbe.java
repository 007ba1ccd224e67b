package io.amqplocks.internal.slots.probe;

import io.amqplocks.internal.broker.AuxiliaryConnection;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.ProbeKind;
import java.util.List;

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

  /** The probe of that kind. */
  static ExistenceProbe of(ProbeKind kind) {
    return switch (kind) {
      case CONFIRM -> new ConfirmProbe();
      case PASSIVE -> new PassiveProbe();
      case TRANSACTION -> new TransactionProbe();
    };
  }
}
