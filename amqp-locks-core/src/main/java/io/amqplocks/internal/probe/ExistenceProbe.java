package io.amqplocks.internal.probe;

import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.ProberConnection;
import io.amqplocks.lock.LockException;
import java.util.List;

/** Finds out which queues exist, many at a time, without breaking a channel over those that don't. */
@FunctionalInterface
public interface ExistenceProbe {

  /**
   * Asks for all of the queues at once.
   *
   * @param prober the connection to ask by
   * @return an answer for each queue, in their order; UNKNOWN for those without one within the bound
   * @throws LockException.Unreachable if the connection breaks
   * @throws LockException.Refused if the user may not publish to the default exchange
   */
  List<Presence> probe(Call call, ProberConnection prober, List<String> queues);
}
