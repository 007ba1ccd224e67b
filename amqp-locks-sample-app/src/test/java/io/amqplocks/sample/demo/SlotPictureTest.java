package io.amqplocks.sample.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class SlotPictureTest {

  private static final Scene SCENE =
      new Scene(
          0,
          "RabbitMQ",
          "tokens",
          3,
          3,
          24,
          null,
          List.of(
              new Scene.Lane(1, 2, 210L, Scene.Sure.HELD, 210L),
              Scene.Lane.free(2),
              new Scene.Lane(3, 11, 20_000L, Scene.Sure.UNCERTAIN, 19_000L)),
          List.of(),
          List.of(
              new Scene.Worker(1, 100, false, 0, 4, "OPEN", 10L, true),
              new Scene.Worker(3, 102, true, 0, null, null, null, true)),
          new Scene.Uploads(2, 3, 10, 0),
          0,
          List.of(),
          List.of());

  @Test
  void hasALineForEachSlotAndOneForThoseWhoWait() {
    assertThat(new SlotPicture(false).of(SCENE))
        .containsExactly(
            "slot 1   worker 2     0.2 s  #####",
            "slot 2   free",
            "slot 3   worker 11   20.0 s  ############################## (uncertain)",
            "waiting: 4 in worker 1");
  }

  @Test
  void givesEachWorkerAColour() {
    assertThat(new SlotPicture(true).of(SCENE))
        .first()
        .asString()
        .endsWith("\u001b[33m#####\u001b[0m");
  }

  /** On a busy machine a worker may say so after the scene was begun. */
  @Test
  void aHoldThatBeganAfterTheSceneHasNoTimeYet() {
    Scene.Lane lane = new Scene.Lane(1, 2, -2_000L, Scene.Sure.HELD, -2_000L);
    assertThat(lane.held()).isZero();
    assertThat(lane.confirmed()).isZero();
  }
}
