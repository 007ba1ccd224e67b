package io.amqplocks.inmemory.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.AmqpLocks;
import io.amqplocks.inmemory.InMemoryLocks;
import io.amqplocks.inmemory.InMemoryLocks.Occupation;
import io.amqplocks.lock.LockId;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.OnBusy;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.context.annotation.Import;
import org.springframework.http.HttpStatus;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/**
 * A test of one slice of an application, which has the locks by the annotation only, also if the
 * application's tests have switched them off.
 */
@WebMvcTest(properties = {"spring.application.name=slice", "amqp-locks.enabled=false"})
@Import({WebSliceTest.Reports.class, WebSliceTest.OrderController.class})
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

  interface OrdersApi {
    @PostMapping("/order")
    int order();
  }

  /** Its proxy has to be one of the class. Of its interface, Spring MVC finds no controller. */
  @RestController
  static class OrderController implements OrdersApi {
    private final AmqpLocks locks;

    OrderController(AmqpLocks locks) {
      this.locks = locks;
    }

    @Override
    @MutexGuarded(name = "order")
    public int order() {
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
  void aControllerWithAnInterfaceIsGuardedAsInTheApplication() {
    assertThat(web.post().uri("/order")).hasStatusOk().hasBodyTextEqualTo("1");
  }

  @Test
  void theRegistryIsThereToo(@Autowired LockRegistry<?> registry) {
    Lock lock = registry.obtain("key");
    lock.lock();
    try {
      assertThat(locks.leases()).extracting("lock").containsExactly(LockId.mutex("slice:key"));
    } finally {
      lock.unlock();
    }
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
