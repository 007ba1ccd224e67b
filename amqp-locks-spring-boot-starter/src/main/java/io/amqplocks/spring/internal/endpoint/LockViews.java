package io.amqplocks.spring.internal.endpoint;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.LeaseSnapshot;
import io.amqplocks.lock.LockId;
import io.amqplocks.spring.internal.catalog.LockCatalog;
import io.amqplocks.spring.internal.endpoint.LockDescriptor.Configured;
import io.amqplocks.spring.internal.endpoint.LockDescriptor.HeldHere;
import io.amqplocks.spring.internal.endpoint.LockDescriptor.Here;
import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Combines what this process knows of its locks with what the broker reports of them.
 *
 * @param locks the locks of this process
 * @param catalog what the application declares of them
 * @param queries asks the broker
 * @param clock for what people read
 */
record LockViews(AmqpLocks locks, LockCatalog catalog, BrokerQueries queries, InstantSource clock) {

  private static final String HIDDEN = "******";

  private static final Comparator<LockId> ORDER =
      Comparator.<LockId, String>comparing(id -> LockAddress.of(id).kind())
          .thenComparing(id -> id.name().value())
          .thenComparing(LockId::kind);

  /**
   * All locks that this application names, holds or waits for. Of a name with keys, these are the
   * locks of the keys in use.
   */
  NavigableSet<LockId> known() {
    NavigableSet<LockId> result = new TreeSet<>(ORDER);
    catalog.locks().stream().filter(catalog::isUsed).forEach(result::add);
    locks.leases().stream().map(LeaseSnapshot::lock).forEach(result::add);
    result.addAll(locks.waiting().keySet());
    return result;
  }

  /**
   * The present state of those locks.
   *
   * @param shown whether the requesting user may see fencing tokens
   */
  List<LockDescriptor> of(Collection<LockId> ids, boolean shown) {
    Map<LockId, BrokerDescriptor> answers = queries.ask(ids);
    // Read after the broker's reply, which may take a while, so that the local state is fresh.
    List<LeaseSnapshot> leases = locks.leases();
    Map<LockId, Integer> waiting = locks.waiting();
    return answers.entrySet().stream()
        .map(
            answer -> {
              LockId id = answer.getKey();
              List<HeldHere> held = held(id, leases, shown);
              int permits = held.stream().mapToInt(HeldHere::permits).sum();
              Here here = new Here(permits, waiting.getOrDefault(id, 0), held);
              return lock(id, Configured.of(catalog, id), answer.getValue(), here);
            })
        .toList();
  }

  private List<HeldHere> held(LockId id, List<LeaseSnapshot> leases, boolean shown) {
    Instant now = clock.instant();
    return leases.stream()
        .filter(lease -> lease.lock().equals(id))
        .sorted(Comparator.comparing(LeaseSnapshot::age).reversed())
        .map(
            lease ->
                new HeldHere(
                    lease.slot(),
                    lease.permits(),
                    lease.state().name(),
                    now.minus(lease.age()).truncatedTo(ChronoUnit.SECONDS),
                    inMillis(lease.age()),
                    inMillis(lease.unconfirmed()),
                    lease.token().map(token -> shown ? token.toString() : HIDDEN).orElse(null)))
        .toList();
  }

  private static Duration inMillis(Duration duration) {
    return duration.truncatedTo(ChronoUnit.MILLIS);
  }

  private LockDescriptor lock(
      LockId id, @Nullable Configured configured, BrokerDescriptor broker, Here here) {
    LockAddress address = LockAddress.of(id);
    return new LockDescriptor(
        address.kind(),
        address.name(),
        address.algorithm(),
        configured,
        broker,
        here,
        LockNotes.on(configured, catalog.isOfKey(id), broker, here));
  }
}
