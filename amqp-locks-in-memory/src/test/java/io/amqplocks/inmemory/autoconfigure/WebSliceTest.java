package io.amqplocks.inmemory.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.AmqpLocks;
import io.amqplocks.inmemory.InMemoryLocks;
import io.amqplocks.inmemory.InMemoryLocks.Occupation;
import io.amqplocks.lock.LockId;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.OnBusy;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** A test of one slice of an application, which has the locks by the annotation only. */
@WebMvcTest
@Import(WebSliceTest.Reports.class)
@AutoConfigureAmqpLocksTest
class WebSliceTest {

  private static final LockId REPORT = LockId.mutex("report");

  @SpringBootConfiguration
  @EnableAutoConfiguration
  static class Application {}

  @RestController
  static class Reports {
    private final AmqpLocks locks;

    Reports(AmqpLocks locks) {
      this.locks = locks;
    }

    @PostMapping("/report")
    @MutexGuarded(name = "report", onBusy = OnBusy.THROW)
    public int held() {
      return locks.leases().size();
    }
  }

  @Autowired private MockMvcTester web;
  @Autowired private InMemoryLocks locks;

  @Test
  void annotatedMethodsAreGuarded() {
    assertThat(web.post().uri("/report")).hasStatusOk().hasBodyTextEqualTo("1");
    assertThat(locks.leases()).isEmpty();
  }

  @Test
  void aBusyLockHasItsAnswer() {
    try (Occupation elsewhere = locks.busy(REPORT)) {
      assertThat(web.post().uri("/report"))
          .as("while %s", elsewhere)
          .hasStatus(HttpStatus.TOO_MANY_REQUESTS);
    }
  }
}
