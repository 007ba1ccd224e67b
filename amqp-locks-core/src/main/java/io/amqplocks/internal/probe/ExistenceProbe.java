package io.amqplocks.internal.probe;

import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.PublishingConnection;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.ProbeKind;
import java.util.List;

/** Finds out which queues exist, many at a time. */
@FunctionalInterface
public interface ExistenceProbe {

  /**
   * Asks for all of the queues at once. May be called by any number of threads.
   *
   * @param prober the connection to ask by
   * @return an answer for each queue, in their order; UNKNOWN for those without one within the bound.
   *     Only where a connection or channel must be opened first it may take the call timeout longer
   * @throws LockException.Unreachable if the connection breaks
   * @throws LockException.Refused if the user may not ask in this way
   */
  List<Presence> probe(Call call, PublishingConnection prober, List<String> queues);

  /** The probe of that kind. */
  static ExistenceProbe of(ProbeKind kind) {
    return switch (kind) {
      case CONFIRM -> new ConfirmProbe();
      case PASSIVE -> new PassiveProbe();
      case TRANSACTION -> new TransactionProbe();
    };
  }
}
