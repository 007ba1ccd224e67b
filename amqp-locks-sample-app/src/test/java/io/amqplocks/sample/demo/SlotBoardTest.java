package io.amqplocks.sample.demo;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.sample.images.ImageFolder;
import io.amqplocks.sample.images.Thumbnail;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.core.io.ClassPathResource;
import org.springframework.util.unit.DataSize;

class SlotBoardTest {

  private final SlotBoard board = new SlotBoard();

  @Test
  void showsWhoHoldsWhat() {
    read(1, "slot 4 taken after 12 ms", 0);
    read(2, "slot 5 taken after 0 ms", 0);
    read(2, "slot 1 taken after 3 ms", 5);
    read(1, "slot 4 released after 200 ms", 200);
    board.read(1, "something else", 200);
    assertThat(board.holders()).isEqualTo(Map.of(1, 2, 5, 2));
    assertThat(board.lost()).isZero();
  }

  @Test
  void countsLosses() {
    read(1, "slot 4 taken after 12 ms", 0);
    read(1, "slot 4 lost: REVOKED (somebody deleted it)", 10);
    assertThat(board.holders()).isEmpty();
    assertThat(board.lost()).isEqualTo(1);
  }

  @Test
  void findsAWorkerInMidUpload() {
    read(3, "slot 2 taken after 1 ms", 1000);
    assertThat(board.inMidUpload(millis(1010))).isEmpty();
    assertThat(board.inMidUpload(millis(1120))).hasValue(3);
    assertThat(board.inMidUpload(millis(1300))).isEmpty();
  }

  @Test
  void prefersAWorkerInSeveralUploads() {
    read(1, "slot 1 taken after 0 ms", 0);
    read(2, "slot 2 taken after 0 ms", 0);
    read(2, "slot 3 taken after 0 ms", 20);
    read(3, "slot 4 taken after 0 ms", 20);
    assertThat(board.inMidUpload(millis(110))).hasValue(2);
  }

  @Test
  void everyUploadTakesAsLongAsTheBoardThinks() throws IOException {
    ImageFolder images =
        new ImageFolder(Path.of(System.getProperty("sample.images", "target/images")));
    long bytesPerSecond = bytesPerSecond();
    for (String name : images.names()) {
      long bytes = Thumbnail.of(name, images.read(name)).size();
      assertThat(Duration.ofMillis(1000 * bytes / bytesPerSecond))
          .as(name)
          .isGreaterThanOrEqualTo(SlotBoard.SURELY_HELD);
    }
  }

  private static long bytesPerSecond() throws IOException {
    return new YamlPropertySourceLoader()
        .load("settings", new ClassPathResource("application.yml")).stream()
            .map(settings -> settings.getProperty("sample.worker.bytes-per-second"))
            .filter(Objects::nonNull)
            .map(rate -> DataSize.parse(rate.toString()).toBytes())
            .findAny()
            .orElseThrow();
  }

  @Test
  void watchesTheSlotsOfAKilledWorkerChangeHands() {
    read(1, "slot 1 taken after 0 ms", 0);
    read(2, "slot 2 taken after 0 ms", 280);
    read(1, "slot 3 taken after 0 ms", 280);
    read(1, "slot 4 taken after 0 ms", 290);
    board.kill(1, millis(370));
    assertThat(board.freed()).as("it may have released slot 1").containsExactly(3, 4);
    read(1, "slot 4 released after 79 ms", 371);
    assertThat(board.freed()).as("written just before it died").containsExactly(3);
    read(2, "slot 3 taken after 80 ms", 382);
    assertThat(board.freed()).isEmpty();
    assertThat(board.news()).containsExactly("slot 3 taken by worker 2 after 12 ms");
    assertThat(board.news()).isEmpty();
    assertThat(board.holders()).isEqualTo(Map.of(2, 2, 3, 2));
  }

  @Test
  void aLeaseMayMoveToAnotherSlot() {
    read(1, "slot 2 taken after 0 ms", 1000);
    WorkerReport.Held lease =
        new WorkerReport.Held(4, Scene.Sure.HELD, Duration.ofMillis(190), Duration.ZERO);
    board.read(1, new WorkerReport(millis(1200), "OPEN", 0, List.of(lease), null));
    assertThat(board.holders()).isEqualTo(Map.of(4, 1));
    assertThat(board.holds(millis(1300)))
        .containsExactly(
            new Hold(2, 1, millis(1000), millis(1200), Hold.End.MOVED),
            new Hold(4, 1, millis(1000), null, null));
    read(1, "slot 4 released after 400 ms", 1400);
    assertThat(board.holders()).isEmpty();
  }

  @Test
  void theReleaseTellsWhichLeaseHadMoved() {
    read(1, "slot 2 taken after 0 ms", 0);
    read(1, "slot 5 taken after 0 ms", 300);
    read(1, "slot 4 released after 500 ms", 510);
    assertThat(board.holders()).isEqualTo(Map.of(5, 1));
  }

  @Test
  void sumsUpWaitsAndTellsLossesOnce() {
    read(1, "slot 2 taken after 30 ms", 0);
    read(2, "slot 3 taken after 12 ms", 0);
    read(2, "slot 3 lost: REVOKED (somebody deleted it)", 10);
    assertThat(board.waits()).isEqualTo(new SlotBoard.Waits(2, 42));
    assertThat(board.losses())
        .containsExactly(new SlotBoard.Loss(3, 2, "REVOKED (somebody deleted it)"));
    assertThat(board.losses()).isEmpty();
  }

  @Test
  void aSecondWorkerMayBeKilled() {
    read(1, "slot 1 taken after 0 ms", 0);
    read(2, "slot 2 taken after 0 ms", 0);
    board.kill(1, millis(10));
    board.kill(2, millis(20));
    assertThat(board.freed()).containsExactly(1, 2);
    read(1, "slot 1 released after 9 ms", 21);
    read(3, "slot 2 taken after 9 ms", 30);
    assertThat(board.freed()).isEmpty();
  }

  private void read(int worker, String event, long atMillis) {
    board.read(worker, "INFO SlotLog : token semaphore 'images': " + event, millis(atMillis));
  }

  private static long millis(long millis) {
    return millis * 1_000_000;
  }
}
