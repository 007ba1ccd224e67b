package io.amqplocks.prover.budget;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Method;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What counts as a round trip and as a write. */
class FiguresTest {

  private static final Method DECLARE = new AMQP.Queue.Declare.Builder().queue("q").build();
  private static final Method PASSIVE =
      new AMQP.Queue.Declare.Builder().queue("q").passive().build();
  private static final Method DECLARED =
      new AMQP.Queue.DeclareOk.Builder().queue("q").messageCount(0).consumerCount(0).build();
  private static final Method NACK = new AMQP.Basic.Nack.Builder().deliveryTag(1).build();
  private static final Method DELIVER =
      new AMQP.Basic.Deliver.Builder()
          .consumerTag("c")
          .deliveryTag(2)
          .exchange("")
          .routingKey("q")
          .build();

  @Test
  void eachAnsweredRequestAfterAnotherIsARoundTrip() {
    assertThat(
            Figures.roundTrips(
                List.of(
                    sent(1, DECLARE),
                    received(1, DECLARED),
                    sent(1, PASSIVE),
                    received(1, DECLARED))))
        .isEqualTo(2);
  }

  @Test
  void requestsThatDoNotWaitForEachOtherAreOne() {
    assertThat(
            Figures.roundTrips(
                List.of(
                    sent(1, DECLARE),
                    sent(2, PASSIVE),
                    received(1, DECLARED),
                    received(2, DECLARED))))
        .isEqualTo(1);
  }

  @Test
  void aMessageAnswersANackOnAnotherChannelAndIsNothingByItself() {
    assertThat(Figures.roundTrips(List.of(sent(1, NACK), received(2, DELIVER)))).isEqualTo(1);
    assertThat(Figures.roundTrips(List.of(received(2, DELIVER)))).isZero();
  }

  @Test
  void onlyTheDeclareThatCreatesAQueueIsAWrite() {
    List<MethodFrame> frames =
        List.of(
            sent(1, PASSIVE),
            received(1, DECLARED),
            sent(1, DECLARE),
            received(1, DECLARED),
            sent(1, DECLARE),
            received(1, DECLARED));
    assertThat(Figures.count(frames, 0, 6)).isEqualTo(new Figures(3, 3, 3, 0, 0, 1));
    assertThat(Figures.count(frames, 4, 6).writes()).isZero();
  }

  private static MethodFrame sent(int channel, Method method) {
    return new MethodFrame(1, channel, true, method);
  }

  private static MethodFrame received(int channel, Method method) {
    return new MethodFrame(1, channel, false, method);
  }
}
