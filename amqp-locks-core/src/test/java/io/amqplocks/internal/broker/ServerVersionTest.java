package io.amqplocks.internal.broker;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ServerVersionTest {

  @ParameterizedTest
  @CsvSource({
    "RabbitMQ,3.10.8,",
    "RabbitMQ,3.13.0-rc.1,",
    "RabbitMQ,4.0,",
    "RabbitMQ,4.3.6,",
    "RabbitMQ,10.0.0,",
    "RabbitMQ,3.9.29,older than 3.10",
    "RabbitMQ,2.8.7,older than 3.10",
    "RabbitMQ,0.0.0+dev,older than 3.10",
    "RabbitMQ,99999999999.1,says nothing",
    "RabbitMQ,unknown,says nothing",
    "qpid,10.1.0,this server is qpid 10.1.0"
  })
  void whatAnOperatorShouldKnow(String product, String version, String concern) {
    ServerVersion server = new ServerVersion(product, version);
    if (concern == null) {
      assertThat(server.concern()).isEmpty();
    } else {
      assertThat(server.concern()).hasValueSatisfying(text -> assertThat(text).contains(concern));
    }
  }

  @Test
  void aServerThatDoesNotIntroduceItself() {
    assertThat(ServerVersion.of(Map.of())).hasToString("unknown unknown");
  }
}
