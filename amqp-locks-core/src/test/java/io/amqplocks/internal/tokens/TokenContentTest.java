package io.amqplocks.internal.tokens;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.admin.TokenSemaphoreAdmin;
import io.amqplocks.lock.FencingToken;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The text of a token's message. */
class TokenContentTest {

  @Test
  void isReadAsItIsWritten() {
    TokenContent first = new TokenContent(1, 1, 3);
    TokenContent last =
        new TokenContent(TokenSemaphoreAdmin.MAX_SLOTS, FencingToken.MAX_EPOCH, 999);
    assertThat(TokenContent.parse("slot 3 epoch 29876543 on RabbitMQ 4"))
        .contains(new TokenContent(3, 29_876_543, 4));
    assertThat(TokenContent.parse(first.toString())).contains(first);
    assertThat(TokenContent.parse(last.toString())).contains(last);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "",
        "slot ",
        "slot epoch on RabbitMQ ",
        "slot epoch 5 on RabbitMQ 4",
        "slot 0 epoch 5 on RabbitMQ 4",
        "slot 10001 epoch 5 on RabbitMQ 4",
        "slot 000001 epoch 5 on RabbitMQ 4",
        "slot -1 epoch 5 on RabbitMQ 4",
        "slot +1 epoch 5 on RabbitMQ 4",
        "slot \u0661 epoch 5 on RabbitMQ 4",
        "slot 1 epoch 0 on RabbitMQ 4",
        "slot 1 epoch 67108864 on RabbitMQ 4",
        "slot 1 epoch 9999999999 on RabbitMQ 4",
        "slot 1 epoch 5 on RabbitMQ ",
        "slot 1 epoch 5 on RabbitMQ 1000",
        "slot 1 epoch 5 on RabbitMQ 4 ",
        " slot 1 epoch 5 on RabbitMQ 4",
        "slot 1 epoch 5 on RabbitMQ 4\n",
        "slot 1 on RabbitMQ 4 epoch 5",
        "slot 1 epoch 5 epoch 5 on RabbitMQ 4",
        "slot 1 epoch 5 on RabbitMQ 4 on RabbitMQ 4"
      })
  void isNothingElse(String text) {
    assertThat(TokenContent.parse(text)).isEmpty();
  }
}
