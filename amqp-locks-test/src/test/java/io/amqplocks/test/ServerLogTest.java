package io.amqplocks.test;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import org.junit.jupiter.api.Test;

/** Lines that servers logged. */
class ServerLogTest {

  @Test
  void anErrorOfTheServerThatEndsAConnection() {
    String line =
        "2026-12-01 01:36:19.413973+00:00 [error] <0.2564.0> Error on AMQP connection <0.2564.0>"
            + " (198.19.0.254:60718 -> 198.19.0.2:5672 - prover holder, vhost: '/', user: 'guest',"
            + " state: running), channel 38:";
    assertThat(ConnectionError.of(line))
        .contains(
            new ConnectionError("prover holder", Instant.parse("2026-12-01T01:36:19.413973Z")));
  }

  /** It was ended before, by the line above. */
  @Test
  void aConnectionThatIsClosedIsNotEndedAgain() {
    String line =
        "2026-12-01 01:36:41.545452+00:00 [error] <0.2564.0> Error on AMQP connection <0.2564.0>"
            + " (198.19.0.254:60718 -> 198.19.0.2:5672 - prover holder, vhost: '/', user: 'guest',"
            + " state: closed), channel 11:";
    assertThat(ConnectionError.of(line)).isEmpty();
  }
}
