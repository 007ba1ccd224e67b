package io.amqplocks.spring.internal.endpoint;

import static io.amqplocks.spring.internal.endpoint.EndpointApplication.OPENED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.jayway.jsonpath.PathNotFoundException;
import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.internal.endpoint.EndpointApplication.Answer;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;

/** An operator looks when something is wrong: the endpoint must answer just then. */
@BrokerTest(ownBroker = true)
@Order(1) // of the longest
class EndpointWithoutBrokerTest {

  private static final Duration LONG = Duration.ofSeconds(30);

  @AutoClose private final LocksOnBroker onBroker;
  private final Broker broker;

  EndpointWithoutBrokerTest(Broker broker) {
    this.broker = broker;
    onBroker = new LocksOnBroker(broker);
  }

  private EndpointApplication application(int heartbeatInSeconds) {
    return application(heartbeatInSeconds, 1);
  }

  private EndpointApplication application(int heartbeatInSeconds, int timeoutInSeconds) {
    // The call timeout that is the default.
    return application(heartbeatInSeconds, timeoutInSeconds, Math.min(heartbeatInSeconds, 5));
  }

  private EndpointApplication application(
      int heartbeatInSeconds, int timeoutInSeconds, int callTimeoutInSeconds) {
    return new EndpointApplication(
        onBroker,
        OPENED,
        "amqp-locks.heartbeat=" + heartbeatInSeconds + "s",
        "amqp-locks.call-timeout=" + callTimeoutInSeconds + "s",
        "amqp-locks.semaphores.images.slots=3",
        "amqp-locks.mutexes.report.wait=20s",
        "management.endpoint.amqplocks.timeout=" + timeoutInSeconds + "s");
  }

  /** An operator would look for the fault at the wrong lock. */
  private static void assertNoErrorOfAnotherLock(Answer all) {
    List<Map<String, Object>> locks = all.read("$.locks");
    assertThat(locks).extracting(lock -> lock.get("name")).contains("images", "report");
    for (Map<String, Object> lock : locks) {
      List<Object> others = locks.stream().map(each -> each.get("name")).toList();
      assertThat(others.stream().filter(other -> !other.equals(lock.get("name"))))
          .allSatisfy(
              other ->
                  assertThat(String.valueOf(lock.get("broker")))
                      .as("%s", lock)
                      .contains("error")
                      .doesNotContain("'" + other + "'"));
    }
  }

  @Test
  void aBrokerThatDoesNotAnswer() {
    // The endpoint's time is over long before that of the call which it has begun.
    try (EndpointApplication application = application(20, 5, 20)) {
      Lease lease = application.bean(LockTemplate.class).mutex("report").acquire();
      broker.faults().freeze();
      try {
        Answer all = application.get("amqplocks");
        assertThat(all.status()).as(all.text()).isEqualTo(200);
        assertThat(all.<List<String>>read("$.locks[*].broker.error"))
            .hasSize(2)
            .allSatisfy(error -> assertThat(error).contains("did not answer within PT5S"));
        assertNoErrorOfAnotherLock(all);
        assertThat(all.<List<String>>read("$.locks[*].here.leases[*].state")).hasSize(1);
        // It is uncertain for more than twenty seconds, before it is lost after a minute.
        await()
            .atMost(Duration.ofMinutes(2))
            .untilAsserted(
                () -> {
                  Answer answer = application.get("amqplocks");
                  assertThat(answer.<Integer>read("$.uncertain")).isEqualTo(1);
                  assertThat(answer.text()).contains("UNCERTAIN", "may be lost");
                  assertThat(application.get("health").text()).contains("\"uncertain\":1");
                });
        assertThat(lease.state()).isNotEqualTo(LeaseState.HELD);
      } finally {
        broker.faults().thaw();
      }
      await()
          .atMost(LONG)
          .ignoreExceptionsInstanceOf(PathNotFoundException.class)
          .untilAsserted(
              () ->
                  assertThat(
                          application
                              .get("amqplocks/semaphore/images")
                              .<Integer>read("$.broker.slots"))
                      .isEqualTo(3));
    }
  }

  @Test
  void aForcedReleaseThatFailsHalfWaySaysWhatIsDone() {
    try (EndpointApplication application = application(20)) {
      Lease lease = application.bean(LockTemplate.class).semaphore("images").acquire();
      broker.faults().freeze();
      try {
        Answer answer = application.delete("amqplocks/semaphore/images");
        assertThat(answer.status()).as(answer.text()).isEqualTo(503);
        assertThat(answer.<String>read("$.error"))
            .contains("did not answer")
            .endsWith("Leases of this process that were taken back already: 1.");
        assertThat(lease.state()).isEqualTo(LeaseState.LOST);
      } finally {
        broker.faults().thaw();
      }
      await()
          .atMost(LONG)
          .ignoreExceptionsInstanceOf(PathNotFoundException.class)
          .until(
              () ->
                  Integer.valueOf(3)
                      .equals(
                          application
                              .get("amqplocks/semaphore/images")
                              .<Integer>read("$.broker.free")));
    }
  }

  @Test
  void aBrokerThatIsNotThere() {
    try (EndpointApplication application = application(4)) {
      Lease lease = application.bean(LockTemplate.class).mutex("report").acquire();
      broker.faults().kill();
      try {
        await().atMost(LONG).until(() -> lease.state() == LeaseState.LOST);
        // The one who remembers it is told after that.
        await()
            .atMost(LONG)
            .until(() -> application.bean(AmqpLocks.class).status().lastLoss().isPresent());
        Answer all = application.get("amqplocks");
        assertThat(all.status()).as(all.text()).isEqualTo(200);
        assertThat(all.<String>read("$.session.state")).isEqualTo("ENDED");
        assertThat(all.<String>read("$.lastLoss.what")).contains("report");
        assertThat(all.<List<String>>read("$.locks[*].broker.error")).hasSize(2);
        assertNoErrorOfAnotherLock(all);

        Answer one = application.get("amqplocks/mutex/nobody's");
        assertThat(one.status()).as(one.text()).isEqualTo(200);
        assertThat(one.<String>read("$.broker.error")).isNotBlank();

        Answer change = application.post("amqplocks/semaphore/images", "{\"slots\":5}");
        assertThat(change.status()).as(change.text()).isEqualTo(503);
        assertThat(change.<String>read("$.error")).isNotBlank();
      } finally {
        broker.faults().start();
      }
    }
  }

  @Test
  void anAlarm() {
    try (EndpointApplication application = application(4, 30)) {
      broker.faults().memoryAlarm(true);
      try {
        Answer answer = application.get("amqplocks/semaphore/images");
        assertThat(answer.<Integer>read("$.broker.free")).isEqualTo(3);
      } finally {
        broker.faults().memoryAlarm(false);
      }
    }
  }
}
