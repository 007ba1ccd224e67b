package io.amqplocks.sample.demo;

import io.amqplocks.sample.receiver.UploadCount;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Takes the scenes that the page shows. For the main thread alone. */
final class Camera {

  private static final long EVERY = TimeUnit.MILLISECONDS.toNanos(200);
  private static final long SECOND = TimeUnit.SECONDS.toNanos(1);
  private static final int SECONDS = 60;

  /** A worker that has not answered for so long is no longer taken to be sure of anything. */
  private static final long STALE = TimeUnit.SECONDS.toNanos(3);

  private final Stage stage;
  private final long begin = System.nanoTime();
  private final Deque<Scene.Second> seconds = new ArrayDeque<>();
  private SlotBoard.Waits waits;
  private int received;
  private long secondBegan = begin;
  private long taken = begin - EVERY;

  Camera(Stage stage) {
    this.stage = stage;
    this.waits = stage.board().waits();
  }

  /** Takes the next one, if it is time for it. */
  Optional<Scene> next(UploadCount.Snapshot count, long now) {
    if (now - taken < EVERY) {
      return Optional.empty();
    }
    taken = now;
    return Optional.of(take(count, now));
  }

  private Scene take(UploadCount.Snapshot count, long now) {
    if (now - secondBegan >= SECOND) {
      endSecond(count);
    }
    List<Hold> holds = stage.board().holds(now);
    return new Scene(
        millis(now - begin),
        stage.brokerName(),
        stage.kind(),
        stage.slots().count(),
        stage.slots().most(),
        stage.slots().limit(),
        atBroker(now),
        lanes(holds, now),
        holds.stream().map(this::bar).toList(),
        stage.workers().stream().map(worker -> worker(worker, holds, now)).toList(),
        new Scene.Uploads(count.inFlight(), count.most(), count.received(), count.failed()),
        stage.board().lost(),
        List.copyOf(seconds),
        stage.events().latest());
  }

  private void endSecond(UploadCount.Snapshot count) {
    SlotBoard.Waits all = stage.board().waits();
    int takers = all.taken() - waits.taken();
    Long waited = takers == 0 ? null : (all.millis() - waits.millis()) / takers;
    seconds.add(new Scene.Second(count.received() - received, waited));
    if (seconds.size() > SECONDS) {
      seconds.remove();
    }
    waits = all;
    received = count.received();
    secondBegan += SECOND;
  }

  /** By the worker that was the last to ask. */
  private Scene.@Nullable AtBroker atBroker(long now) {
    return reports().stream()
        .filter(report -> report.atBroker() != null)
        .max(Comparator.comparingLong(report -> report.at() - begin))
        .map(
            report -> {
              WorkerReport.AtBroker broker = Objects.requireNonNull(report.atBroker());
              return new Scene.AtBroker(broker.slots(), broker.inUse(), millis(now - report.at()));
            })
        .orElse(null);
  }

  private List<WorkerReport> reports() {
    List<WorkerReport> reports = new ArrayList<>();
    for (WorkerProcess worker : stage.workers()) {
      WorkerReport report = worker.report();
      if (report != null) {
        reports.add(report);
      }
    }
    return reports;
  }

  private List<Scene.Lane> lanes(List<Hold> holds, long now) {
    Set<Integer> used = holds.stream().map(Hold::slot).collect(Collectors.toSet());
    return stage.slots().known(used).stream()
        .map(
            slot ->
                // The logs of two workers are not read in step: the later one is right.
                holds.stream()
                    .filter(hold -> hold.slot() == slot && hold.to() == null)
                    .reduce((earlier, later) -> later)
                    .map(hold -> lane(hold, now))
                    .orElse(Scene.Lane.free(slot)))
        .toList();
  }

  private Scene.Lane lane(Hold hold, long now) {
    Scene.Sure sure = Scene.Sure.UNKNOWN;
    Long confirmed = null;
    WorkerReport report = report(hold.worker());
    if (report == null || hold.from() - report.at() > 0) {
      // To get the slot is to be told so by the broker.
      if (now - hold.from() < STALE) {
        sure = Scene.Sure.HELD;
        confirmed = millis(now - hold.from());
      }
    } else if (now - report.at() < STALE) {
      Optional<WorkerReport.Held> lease = report.lease(hold.slot());
      if (lease.isPresent()) {
        sure = lease.get().sure();
        confirmed = millis(now - report.at()) + lease.get().unconfirmed().toMillis();
      }
    }
    return new Scene.Lane(hold.slot(), hold.worker(), millis(now - hold.from()), sure, confirmed);
  }

  private @Nullable WorkerReport report(int number) {
    for (WorkerProcess worker : stage.workers()) {
      if (worker.number() == number) {
        return worker.report();
      }
    }
    return null;
  }

  private Scene.Bar bar(Hold hold) {
    Long to = hold.to();
    return new Scene.Bar(
        hold.slot(),
        hold.worker(),
        millis(hold.from() - begin),
        to == null ? null : millis(to - begin),
        hold.end());
  }

  private static Scene.Worker worker(WorkerProcess worker, List<Hold> holds, long now) {
    WorkerReport report = worker.report();
    return new Scene.Worker(
        worker.number(),
        worker.pid(),
        !worker.isStarted(),
        (int)
            holds.stream()
                .filter(hold -> hold.worker() == worker.number() && hold.to() == null)
                .count(),
        report == null ? null : report.waiting(),
        report == null ? null : report.session(),
        report == null ? null : millis(now - report.at()),
        worker.isCuttable());
  }

  private static long millis(long nanos) {
    return TimeUnit.NANOSECONDS.toMillis(nanos);
  }
}
