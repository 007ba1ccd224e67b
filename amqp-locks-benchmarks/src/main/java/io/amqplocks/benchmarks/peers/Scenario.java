package io.amqplocks.benchmarks.peers;

import java.util.List;
import java.util.Locale;

/** What is done with each kind of lock. */
enum Scenario {
  /** Nobody else wants it. */
  ALONE("alone", Metric.LATENCY),
  /** Nobody else wants it, and nobody had it before. */
  NEW_NAME("alone, a new name each time", Metric.LATENCY),
  /** Others hold all of it, and it is tried once. */
  BUSY("busy", Metric.LATENCY),
  /** Eight threads share a client. */
  THREADS("8 threads of one client", Metric.RATE),
  /** Eight clients, with a thread each. */
  CLIENTS("8 separate clients", Metric.RATE),
  /** Four processes with a client each, which four threads share. */
  PROCESSES("4 processes with 4 threads each", Metric.RATE),
  /** From the release by one client to the acquire of another that waits. */
  HAND_OVER("hand-over between two clients", Metric.LATENCY),
  /** The same, between clients in processes of their own. */
  PROCESS_HAND_OVER("hand-over between two processes", Metric.LATENCY),
  /** One client acquires more and more of them, and keeps them. */
  HELD("one client holds many locks", Metric.LATENCY),
  /** From the kill of the holder's process to the acquire of another that waits. */
  DEATH("free after kill -9", Metric.FREED);

  private final String title;
  private final Metric metric;

  Scenario(String title, Metric metric) {
    this.title = title;
    this.metric = metric;
  }

  String title() {
    return title;
  }

  /** What it is judged by. */
  Metric metric() {
    return metric;
  }

  /** Whether it can be run with that kind. */
  boolean suits(Kind kind) {
    if (kind.isVariant() && !suitsVariant(kind)) {
      return false;
    }
    return switch (this) {
      case ALONE -> true;
      case NEW_NAME -> !kind.isKept();
      // Its client cannot ask once: a request that waits is given up after some time.
      case BUSY -> kind != Kind.JETCD_LOCK;
      case HELD ->
          switch (kind) {
            // Each lock would need a connection, and PostgreSQL has a process for each.
            case ADVISORY_LOCK -> false;
            // Each lease has two channels, and a connection has too few for all of them.
            case WRITE_LOCK -> false;
            default -> !kind.isKept();
          };
      case THREADS, CLIENTS, PROCESSES, HAND_OVER, PROCESS_HAND_OVER, DEATH -> kind.isWaitedFor();
    };
  }

  /** The rest is left out, so that a run takes less time. */
  private boolean suitsVariant(Kind kind) {
    return switch (this) {
      case ALONE, THREADS, CLIENTS, PROCESSES -> true;
      case HAND_OVER, PROCESS_HAND_OVER -> !kind.isGuardedCall();
      case NEW_NAME, BUSY, HELD, DEATH -> false;
    };
  }

  /** Runs it with these kinds, all of which it suits. */
  void measure(Systems systems, List<Kind> kinds, Effort effort, Recorder recorder)
      throws Exception {
    switch (this) {
      case ALONE -> Alone.measure(systems, kinds, effort, recorder);
      case NEW_NAME -> Once.newNames(systems, kinds, effort, recorder);
      case BUSY -> Once.busy(systems, kinds, effort, recorder);
      case THREADS, CLIENTS -> Contended.measure(systems, this, kinds, effort, recorder);
      case PROCESSES -> Processes.measure(systems, kinds, effort, recorder);
      case HAND_OVER -> HandingOver.measure(systems, kinds, effort, recorder);
      case PROCESS_HAND_OVER -> HandingOver.betweenProcesses(systems, kinds, effort, recorder);
      case HELD -> Held.measure(systems, kinds, effort, recorder);
      case DEATH -> Deaths.measure(systems, kinds, effort, recorder);
    }
  }

  /** The name of the lock: each scenario has its own, so that none finds what another left. */
  String lock() {
    return "bench-" + name().toLowerCase(Locale.ROOT).replace('_', '-');
  }
}
