package io.amqplocks.sample.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;

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
    assertThat(board.inMidUpload(millis(1080))).hasValue(3);
    assertThat(board.inMidUpload(millis(1200))).isEmpty();
  }

  @Test
  void watchesTheSlotsOfAKilledWorkerChangeHands() {
    read(1, "slot 1 taken after 0 ms", 0);
    read(2, "slot 2 taken after 0 ms", 100);
    read(1, "slot 3 taken after 0 ms", 100);
    read(1, "slot 4 taken after 0 ms", 110);
    board.kill(1, millis(190));
    assertThat(board.freed()).as("it may have released slot 1").containsExactly(3, 4);
    read(1, "slot 4 released after 79 ms", 191);
    assertThat(board.freed()).as("written just before it died").containsExactly(3);
    read(2, "slot 3 taken after 80 ms", 202);
    assertThat(board.freed()).isEmpty();
    assertThat(board.news()).containsExactly("slot 3 taken by worker 2 after 12 ms");
    assertThat(board.news()).isEmpty();
    assertThat(board.holders()).isEqualTo(Map.of(2, 2, 3, 2));
  }

  private void read(int worker, String event, long atMillis) {
    board.read(worker, "INFO SlotLog : semaphore 'images': " + event, millis(atMillis));
  }

  private static long millis(long millis) {
    return millis * 1_000_000;
  }
}
