package io.amqplocks.internal.fencing;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.lock.FencingToken;
import org.junit.jupiter.api.Test;

class CounterContentTest {

  @Test
  void isReadAsItWasWritten() {
    CounterContent content = new CounterContent(29_876_543, 4);
    assertThat(content).hasToString("epoch 29876543 on RabbitMQ 4");
    assertThat(CounterContent.parse(content.toString())).contains(content);
  }

  @Test
  void isNothingElse() {
    assertThat(CounterContent.parse("")).isEmpty();
    assertThat(CounterContent.parse("1")).isEmpty();
    assertThat(CounterContent.parse("epoch 1 on RabbitMQ 4\n")).isEmpty();
    assertThat(CounterContent.parse("epoch 99999999999999999999 on RabbitMQ 4")).isEmpty();
  }

  @Test
  void hasAnEpochThatFitsAToken() {
    assertThat(new CounterContent(0, 4).isInRange()).isFalse();
    assertThat(new CounterContent(FencingToken.MAX_EPOCH, 4).isInRange()).isTrue();
    assertThat(new CounterContent(FencingToken.MAX_EPOCH + 1, 4).isInRange()).isFalse();
  }
}
