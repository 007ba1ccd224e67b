package io.amqplocks.internal.mutex;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.internal.broker.Answer;
import io.amqplocks.internal.broker.QueueState;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What the numbers of a queue prove. */
class ActiveConsumerInspectionTest {

  /** Qpid counts the holder's own message too, and may reply before it sends what the queue had. */
  @ParameterizedTest
  @CsvSource({
    "0, 0, true, true",
    "0, 1, false, false",
    "0, 2, false, false",
    "1, 0, true, true",
    "1, 1, true, false",
    "1, 2, true, false",
    "2, 2, true, false",
  })
  void aMessageProvesThatItIsKeptBackUnlessHeldOnesCount(
      int messages, int consumers, boolean onRabbit, boolean onQpid) {
    QueueState state = new QueueState(Answer.OK, messages, consumers);
    assertThat(ActiveConsumerInspection.keepsBack(state, false)).isEqualTo(onRabbit);
    assertThat(ActiveConsumerInspection.keepsBack(state, true)).isEqualTo(onQpid);
  }
}
