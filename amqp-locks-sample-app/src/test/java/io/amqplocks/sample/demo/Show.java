package io.amqplocks.sample.demo;

import io.amqplocks.sample.receiver.UploadCount;
import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;

/** What happens in one demo once everything runs: work, progress, and perhaps a kill. */
final class Show {

  private static final long POLL_MILLIS = 20;

  /** The receiver hears of the end of a process by then. */
  private static final Duration BREAKS_OFF = Duration.ofSeconds(5);

  /**
   * So often the images are sent, if what is to be shown was not seen before; the same count once.
   */
  private static final int ROUNDS = 5;

  private static final Duration PATIENCE = Duration.ofMinutes(1);

  private final DemoOptions options;
  private final Stage stage;
  private final List<String> images;
  private final Screen screen;
  private final Page page;
  private final Camera camera;
  private final SlotPicture picture;
  private UploadCount.Snapshot count = new UploadCount.Snapshot(0, 0, 0, 0, 0);
  private long progressed;
  private int sent;
  private int kills;
  private long lastKill;

  Show(DemoOptions options, Stage stage, List<String> images, Screen screen, Page page) {
    this.options = options;
    this.stage = stage;
    this.images = images;
    this.screen = screen;
    this.page = page;
    this.camera = new Camera(stage);
    // See no-color.org.
    this.picture = new SlotPicture(System.getenv("NO_COLOR") == null);
  }

  /** Runs until each image was uploaded and all shown, or without {@code --once} for ever. */
  void run() throws IOException, InterruptedException, TimeoutException {
    progressed = System.nanoTime();
    while (!isComplete()) {
      if (sent == 0 || (options.once() ? isAllIn() : sent - count.received() < images.size() / 2)) {
        stage.queues().add(images);
        sent += images.size();
      }
      TimeUnit.MILLISECONDS.sleep(POLL_MILLIS);
      look();
      if (options.kill() && isKillDue()) {
        killOneInMidUpload();
      }
    }
  }

  /** What the receiver counted, and the leases that the workers lost. */
  private String result() {
    int uploaded = options.once() ? count.images() : count.received();
    return "images: %d uploaded, at most %d at once, %d leases lost"
        .formatted(uploaded, count.most(), stage.board().lost());
  }

  /** Tells what came out of it; on any thread. */
  void end() {
    String result = result();
    try {
      page.end(result);
    } finally {
      screen.say(result);
    }
  }

  /** Complains if the show did not show what it should. */
  void check() {
    Verdict.on(options, stage.slots(), count, kills, stage.board().freed())
        .ifPresent(
            fault -> {
              throw new DemoFailure(fault);
            });
  }

  private boolean isComplete() {
    return options.once()
        && isAllIn()
        && (sent >= ROUNDS * images.size()
            || Verdict.isFinal(options, stage.slots(), count, kills, stage.board().freed()));
  }

  private boolean isAllIn() {
    return count.images() == images.size() && count.received() >= sent && count.inFlight() == 0;
  }

  private void look() {
    UploadCount.Snapshot before = count;
    count = stage.receiver().count();
    if (count.failed() > before.failed()) {
      screen.say("uploads that broke off at the receiver: " + count.failed());
    }
    for (String freed : stage.board().news()) {
      screen.say(freed);
      stage.events().add(Scene.Event.Kind.FREED, freed);
    }
    for (SlotBoard.Loss loss : stage.board().losses()) {
      stage
          .events()
          .add(
              Scene.Event.Kind.LOST,
              "worker %d lost slot %d: %s".formatted(loss.worker(), loss.slot(), loss.why()));
    }
    long now = System.nanoTime();
    camera
        .next(count, now)
        .ifPresent(
            scene -> {
              page.show(scene);
              screen.progress(picture.of(scene), progress());
            });
    if (count.received() > before.received()) {
      progressed = now;
    }
    boolean stuck = now - progressed > PATIENCE.toNanos();
    if (stuck && stage.workers().isEmpty()) {
      throw new DemoFailure("There is no worker left");
    }
    for (WorkerProcess worker : stage.workers()) {
      if (stuck || worker.hasEndedByItself()) {
        throw new DemoFailure(
            "No image came in for %d s, or worker %d ended. The end of its log:\n%s"
                .formatted(PATIENCE.toSeconds(), worker.number(), worker.log()));
      }
    }
  }

  /** Short, for a line that the terminal had to wrap could not be updated. */
  private String progress() {
    Map<Integer, Integer> holders = stage.board().holders();
    String workers =
        stage.slots().known(holders.keySet()).stream()
            .map(slot -> holders.containsKey(slot) ? "" + holders.get(slot) : "-")
            .collect(Collectors.joining(" "));
    return "%d%s images, %d uploads at once, at most %d; workers in slots: %s"
        .formatted(
            count.received(),
            options.once() ? " of " + sent : "",
            count.inFlight(),
            count.most(),
            workers);
  }

  /** One is enough, if it was hit in time; else another, as long as somebody is left to go on. */
  private boolean isKillDue() {
    if (kills == 0) {
      return count.received() >= images.size() / 4;
    }
    return count.failed() == 0
        && stage.workers().size() > 1
        && System.nanoTime() - lastKill > BREAKS_OFF.toNanos();
  }

  private void killOneInMidUpload() throws InterruptedException {
    OptionalInt victim = stage.board().inMidUpload(System.nanoTime());
    if (victim.isPresent() && stage.kill(victim.getAsInt())) {
      kills++;
      lastKill = System.nanoTime();
      Set<Integer> slots = stage.board().freed();
      screen.say(
          "worker %d killed in mid-upload, while holding slot%s %s"
              .formatted(
                  victim.getAsInt(),
                  slots.size() == 1 ? "" : "s",
                  slots.stream().map(String::valueOf).collect(Collectors.joining(", "))));
    }
  }
}
