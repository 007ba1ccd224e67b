package io.amqplocks.inmemory.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.AmqpLocks;
import io.amqplocks.spring.MutexGuarded;
import org.junit.jupiter.api.Test;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.webmvc.test.autoconfigure.WebMvcTest;
import org.springframework.context.annotation.Import;
import org.springframework.test.web.servlet.assertj.MockMvcTester;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** A test of one slice without {@link AutoConfigureAmqpLocksTest}: the property does not help. */
@WebMvcTest(properties = "amqp-locks.mode=in-memory")
@Import(PlainSliceTest.Reports.class)
class PlainSliceTest {

  @SpringBootConfiguration
  @EnableAutoConfiguration
  static class Application {}

  @RestController
  static class Reports {

    @PostMapping("/report")
    @MutexGuarded(name = "report")
    public String write() {
      return "written";
    }
  }

  @Autowired private MockMvcTester web;
  @Autowired private Reports reports;
  @Autowired private ObjectProvider<AmqpLocks> locks;

  @Test
  void annotatedMethodsRunWithoutALock() {
    assertThat(locks.getIfAvailable()).isNull();
    assertThat(AopUtils.isAopProxy(reports)).isFalse();
    assertThat(web.post().uri("/report")).hasStatusOk().hasBodyTextEqualTo("written");
  }
}
