package io.amqplocks.test;

import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class AddressTest {

  @ParameterizedTest
  @ValueSource(
      strings = {
        "http://guest:secret@host/",
        "guest:secret@host",
        ":secret",
        "amqp://guest:se:secret@host",
        "amqp://guest:secret%@host",
        "amqp://guest:secret ß@host"
      })
  void neverShowsThePasswordOfAWrongUri(String uri) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> new Address(uri).connectionFactory())
        .withMessageContaining("Not an AMQP URI")
        .withMessageNotContainingAny("secret", "guest:")
        .withNoCause();
  }
}
