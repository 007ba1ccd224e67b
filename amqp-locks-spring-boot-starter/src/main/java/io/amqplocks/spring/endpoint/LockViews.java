package io.amqplocks.spring.endpoint;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.LocalLease;
import io.amqplocks.lock.LockId;
import io.amqplocks.spring.LockCatalog;
import io.amqplocks.spring.endpoint.LockDescriptor.Configured;
import io.amqplocks.spring.endpoint.LockDescriptor.HeldHere;
import io.amqplocks.spring.endpoint.LockDescriptor.Here;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.NavigableSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Puts together what this process knows of its locks and what the broker says of them.
 *
 * @param locks the process's own
 * @param catalog what the application says of them
 * @param questions asks the broker
 */
record LockViews(AmqpLocks locks, LockCatalog catalog, BrokerQuestions questions) {

  private static final String HIDDEN = "******";

  private static final Comparator<LockId> ORDER =
      Comparator.<LockId, String>comparing(id -> LockAddress.of(id).kind())
          .thenComparing(id -> id.name().value())
          .thenComparing(LockId::kind);

  /** All that this application names, holds or waits for; of a name with keys those keys. */
  NavigableSet<LockId> known() {
    NavigableSet<LockId> result = new TreeSet<>(ORDER);
    catalog.locks().stream().filter(catalog::isUsed).forEach(result::add);
    locks.leases().stream().map(LocalLease::lock).forEach(result::add);
    result.addAll(locks.waiting().keySet());
    return result;
  }

  /**
   * Those locks as they are now.
   *
   * @param shown whether who asks may see fencing tokens
   */
  List<LockDescriptor> of(Collection<LockId> ids, boolean shown) {
    Map<LockId, BrokerDescriptor> answers = questions.ask(ids);
    // After the broker, which may take its time: what is known here shall be new.
    List<LocalLease> leases = locks.leases();
    Map<LockId, Integer> waiting = locks.waiting();
    return answers.entrySet().stream()
        .map(
            answer -> {
              LockId id = answer.getKey();
              List<HeldHere> held = held(id, leases, shown);
              Here here = new Here(held.size(), waiting.getOrDefault(id, 0), held);
              return lock(id, Configured.of(catalog, id), answer.getValue(), here);
            })
        .toList();
  }

  private static List<HeldHere> held(LockId id, List<LocalLease> leases, boolean shown) {
    Instant now = Instant.now();
    return leases.stream()
        .filter(lease -> lease.lock().equals(id))
        .sorted(Comparator.comparing(LocalLease::age).reversed())
        .map(
            lease ->
                new HeldHere(
                    lease.slot(),
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

  private static LockDescriptor lock(
      LockId id, @Nullable Configured configured, BrokerDescriptor broker, Here here) {
    LockAddress address = LockAddress.of(id);
    return new LockDescriptor(
        address.kind(),
        address.name(),
        address.algorithm(),
        configured,
        broker,
        here,
        Notes.on(configured, broker, here));
  }
}
