package io.amqplocks.benchmarks;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.AmqpLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * Sixteen clients that want the five slots of one semaphore: slots and both kinds of tokens side by
 * side, in turns. ADR 21 chose the default by them.
 */
record ManyClients() implements RowSource {

  private static final int CLIENTS = 16;
  private static final int SLOTS = 5;

  @Override
  public String name() {
    return "semaphore of %d, %d clients contending".formatted(SLOTS, CLIENTS);
  }

  @Override
  public void measure(Lab lab, Consumer<Row> rows) throws Exception {
    List<AmqpLocks> clients = new ArrayList<>();
    for (int i = 0; i < CLIENTS; i++) {
      clients.add(lab.locks());
    }
    lab.semaphore(clients.get(0), "slots", SLOTS);
    Map<String, Function<AmqpLocks, AmqpLock>> kinds = new LinkedHashMap<>();
    kinds.put("slots", locks -> locks.slotSemaphore("slots"));
    for (TokenQueueType type : TokenQueueType.values()) {
      String name = type.name().toLowerCase(Locale.ROOT);
      lab.tokens(admin -> admin.tokenSemaphore(name), "token-semaphore." + name);
      clients.get(0).admin().tokenSemaphore(name).create(SLOTS, type);
      kinds.put("tokens, " + name, locks -> locks.tokenSemaphore(name));
    }
    Map<String, Contention> sums = new LinkedHashMap<>();
    int turns = 3;
    Duration slice = lab.time().dividedBy(turns);
    for (int turn = 0; turn < turns; turn++) {
      for (Map.Entry<String, Function<AmqpLocks, AmqpLock>> kind : kinds.entrySet()) {
        Contention all = Contention.of(clients.stream().map(kind.getValue()).toList(), slice);
        sums.merge(kind.getKey(), all, Contention::and);
      }
    }
    sums.forEach(
        (kind, all) ->
            rows.accept(
                new Row(
                    name() + ": " + kind,
                    Unit.PER_SECOND,
                    all.acquires() * 1e3 / slice.multipliedBy(turns).toMillis(),
                    Double.NaN,
                    Goal.NONE,
                    "longest wait %d ms".formatted(all.longestWait() / 1_000_000))));
  }
}
