package io.amqplocks.sample.receiver;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.sample.receiver.UploadCount.Snapshot;
import io.amqplocks.sample.receiver.UploadCount.Upload;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class UploadCountTest {

  private static final int LIMIT = 5;

  private final UploadCount count = new UploadCount();

  @Test
  void remembersTheMostAtOnce() {
    try (Upload first = count.begin()) {
      try (Upload second = count.begin()) {
        bring(second, "b");
      }
      assertThat(count.snapshot()).isEqualTo(new Snapshot(1, 1, 1, 1, 0));
      bring(first, "a");
    }
    assertThat(count.snapshot()).isEqualTo(new Snapshot(0, 2, 2, 2, 0));
  }

  @Test
  void tellsImagesFromUploads() {
    for (int again = 0; again < 3; again++) {
      try (Upload upload = count.begin()) {
        bring(upload, "a");
      }
    }
    assertThat(count.snapshot()).isEqualTo(new Snapshot(0, 1, 3, 1, 0));
  }

  @Test
  void anUploadThatBroughtNothingHasFailed() {
    count.begin().close();
    assertThat(count.snapshot()).isEqualTo(new Snapshot(0, 0, 0, 0, 1));
    try (Upload noImage = count.begin()) {
      noImage.whole();
    }
    assertThat(count.snapshot()).isEqualTo(new Snapshot(0, 1, 0, 0, 2));
  }

  /** As when the slot of a killed worker is taken before its last upload is known to be over. */
  @ParameterizedTest
  @CsvSource({"0, 0", "0, 3", "0, 5", "2, 0", "2, 3", "2, 5", "5, 0", "5, 3", "5, 5"})
  void whatBreaksOffIsNotAmongTheMost(int beginsAfter, int endsAfter) {
    List<Upload> whole = begin(beginsAfter);
    Upload brokenOff = count.begin();
    whole.addAll(begin(LIMIT - beginsAfter));
    assertThat(count.snapshot().inFlight()).isEqualTo(LIMIT + 1);
    whole.subList(0, endsAfter).forEach(UploadCountTest::complete);
    brokenOff.close();
    whole.subList(endsAfter, LIMIT).forEach(UploadCountTest::complete);
    assertThat(count.snapshot()).isEqualTo(new Snapshot(0, LIMIT, LIMIT, 1, 1));
  }

  /** A slot that two living workers hold must show, whoever else is killed. */
  @ParameterizedTest
  @CsvSource({"0, 0", "0, 3", "0, 6", "2, 0", "2, 3", "2, 6", "6, 0", "6, 3", "6, 6"})
  void oneTooManyThatAllComeInWholeAreSeen(int beginsAfter, int endsAfter) {
    List<Upload> whole = begin(beginsAfter);
    Upload brokenOff = count.begin();
    whole.addAll(begin(LIMIT + 1 - beginsAfter));
    whole.subList(0, endsAfter).forEach(UploadCountTest::complete);
    brokenOff.close();
    whole.subList(endsAfter, LIMIT + 1).forEach(UploadCountTest::complete);
    assertThat(count.snapshot().most()).isEqualTo(LIMIT + 1);
  }

  @Test
  void whatEndsBeforeTheNextBeginsIsNotAtOnceWithIt() {
    Upload early = count.begin();
    Upload brokenOff = count.begin();
    complete(early);
    Upload late = count.begin();
    brokenOff.close();
    complete(late);
    assertThat(count.snapshot().most()).isEqualTo(1);
  }

  @Test
  void aWholeUploadCountsUntilItsLastByteAndIsInFlightUntilItsEnd() {
    Upload first = count.begin();
    first.whole();
    assertThat(count.snapshot()).isEqualTo(new Snapshot(1, 1, 0, 0, 0));
    complete(count.begin());
    first.close();
    assertThat(count.snapshot().most()).isEqualTo(1);
  }

  @Test
  void agreesWithAllMomentsLookedAtAfterwards() {
    for (int seed = 0; seed < 2_000; seed++) {
      History history = new History(new Random(seed));
      history.happen(60);
      assertThat(history.count.snapshot().most())
          .as("seed %d", seed)
          .isEqualTo(history.mostWholeAtOnce());
    }
  }

  private List<Upload> begin(int uploads) {
    List<Upload> begun = new ArrayList<>();
    IntStream.range(0, uploads).forEach(each -> begun.add(count.begin()));
    return begun;
  }

  private static void complete(Upload upload) {
    bring(upload, "a");
    upload.close();
  }

  private static void bring(Upload upload, String image) {
    upload.whole();
    upload.brought(image);
  }

  /** Uploads that begin, are whole, break off and end as chance has it. */
  private static final class History {

    /** From the step at which it began to the one before which it was whole. */
    private record Whole(int begun, int end) {}

    /** Of an upload that is not whole yet. */
    private record Open(Upload upload, int begun) {}

    private final UploadCount count = new UploadCount();
    private final Random random;
    private final List<Open> open = new ArrayList<>();
    private final List<Upload> ending = new ArrayList<>();
    private final List<Whole> whole = new ArrayList<>();

    History(Random random) {
      this.random = random;
    }

    void happen(int steps) {
      for (int step = 0; step < steps; step++) {
        switch (random.nextInt(5)) {
          case 0, 1 -> open.add(new Open(count.begin(), step));
          case 2 -> becomeWhole(step);
          case 3 -> {
            if (!open.isEmpty()) {
              open.remove(random.nextInt(open.size())).upload().close();
            }
          }
          default -> {
            if (!ending.isEmpty()) {
              ending.remove(random.nextInt(ending.size())).close();
            }
          }
        }
      }
    }

    private void becomeWhole(int step) {
      if (!open.isEmpty()) {
        Open one = open.remove(random.nextInt(open.size()));
        one.upload().whole();
        whole.add(new Whole(one.begun(), step));
        ending.add(one.upload());
      }
    }

    int mostWholeAtOnce() {
      Stream<Integer> moments = whole.stream().map(Whole::begun);
      return moments
          .mapToInt(
              moment ->
                  (int)
                      whole.stream()
                          .filter(each -> each.begun() <= moment && moment < each.end())
                          .count())
          .max()
          .orElse(0);
    }
  }
}
