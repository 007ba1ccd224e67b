package io.amqplocks.benchmarks;

import io.amqplocks.admin.TokenQueueType;
import java.util.ArrayList;
import java.util.List;

/** Everything that is measured, in the order of the table. To add a row, add it here. */
final class Suite {

  private Suite() {}

  /** What can be asked for once, alone: a row each, and what JMH and {@code explain} know. */
  static List<CorePath> paths() {
    return List.of(
        new MutexPath(),
        new NewMutexPath(),
        new ExclusiveQueueMutexPath(),
        new PersistentMutexPath(),
        new ReadWritePath(false),
        new ReadWritePath(true),
        new SemaphorePath(5, 0, Goal.atMostTimes(1.4)),
        new SemaphorePath(100, 99, Goal.atMostTimes(1.6)),
        new BusyMutexPath(),
        new BusyPath(false),
        new BusyPath(true),
        new QuorumMutexPath(),
        new FencedPath(false),
        new FencedPath(true),
        new KeyedFencePath(),
        new SlotGrowth(),
        new MutexHandOver(false),
        new MutexHandOver(true),
        new HandOver(),
        new TokenHandOver(TokenQueueType.CLASSIC),
        new TokenHandOver(TokenQueueType.QUORUM),
        new Takeover(false),
        new Takeover(true),
        new DeliveryLatency(false),
        new DeliveryLatency(true),
        new TokenPath(TokenQueueType.CLASSIC),
        new TokenPath(TokenQueueType.QUORUM),
        new PermitsPath(TokenQueueType.CLASSIC),
        new PermitsPath(TokenQueueType.QUORUM),
        new AnnotatedPath(false),
        new AnnotatedPath(true));
  }

  /** The path whose name begins so, written without commas, which JMH takes for itself. */
  static CorePath path(String name) {
    return paths().stream()
        .filter(path -> path.name().replace(",", "").startsWith(name))
        .findFirst()
        .orElseThrow(() -> new IllegalArgumentException("There is no path " + name));
  }

  /** All rows. */
  static List<RowSource> rows() {
    List<RowSource> rows = new ArrayList<>();
    paths().forEach(path -> rows.add(new PathRows(path)));
    rows.add(new EightThreads());
    rows.add(new FencedEightThreads());
    rows.add(new TwoProcesses());
    rows.add(new Fairness());
    rows.add(new ManyWaiters());
    rows.add(new SeparateClients());
    rows.add(new ManyClients());
    rows.add(new ManyTokens());
    rows.add(new KeepAliveRequests());
    rows.add(new BesideStrangers());
    rows.add(new SweptKeys());
    rows.add(new AtRest());
    rows.add(new ManyLocks());
    return rows;
  }
}
