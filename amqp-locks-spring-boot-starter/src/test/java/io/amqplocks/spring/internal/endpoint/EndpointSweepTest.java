package io.amqplocks.spring.internal.endpoint;

import static io.amqplocks.spring.internal.endpoint.EndpointApplication.OPENED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.internal.endpoint.EndpointApplication.Answer;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** What a POST does that is to remove unused keys. */
@BrokerTest
class EndpointSweepTest {

  @AutoClose private final LocksOnBroker onBroker;

  EndpointSweepTest(Broker broker) {
    onBroker = new LocksOnBroker(broker);
  }

  @Test
  void keysAreFoundAndThoseOfTheLastHourStay() {
    try (EndpointApplication application =
        new EndpointApplication(onBroker, OPENED, "amqp-locks.semaphores.customers.slots=2")) {
      LockTemplate locks = application.bean(LockTemplate.class);
      locks.semaphore("customers", "42").acquire().close();
      locks.semaphore("customers", "43").acquire().close();
      Answer swept = sweep(application, "semaphore/customers", "0s");
      assertThat(swept.status()).as(swept.text()).isEqualTo(200);
      assertThat(swept.<String>read("$.done")).isEqualTo("keys removed: 0, kept: 2");
      assertThat(swept.<String>read("$.next")).contains("a later request");
      await().until(() -> locks.semaphore("customers", "42").tryAcquire().isPresent());
    }
  }

  @Test
  void whatHasNoKeysToSweepIsRefused() {
    try (EndpointApplication application = new EndpointApplication(onBroker, OPENED)) {
      assertThat(sweep(application, "mutex/orders", "24h").status()).isEqualTo(400);
      assertThat(sweep(application, "semaphore/customers:42", "24h").status()).isEqualTo(400);
      Answer two =
          application.post(
              "amqplocks/semaphore/images", "{\"slots\":2,\"sweepKeysUnusedFor\":\"24h\"}");
      assertThat(two.status()).isEqualTo(400);
      assertThat(two.text()).contains("sweepKeysUnusedFor");
    }
  }

  private static Answer sweep(EndpointApplication application, String lock, String unused) {
    return application.post(
        "amqplocks/" + lock, "{\"sweepKeysUnusedFor\":\"%s\"}".formatted(unused));
  }
}
