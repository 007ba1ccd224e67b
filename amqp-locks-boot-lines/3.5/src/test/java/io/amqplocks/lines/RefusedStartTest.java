package io.amqplocks.lines;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.amqplocks.spring.LockConfigurationException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Isolated;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.SpringApplication;
import org.springframework.boot.SpringBootVersion;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/**
 * On Spring Boot 3.5 an application that has the starter does not start, and says why. It is not
 * among the lines that {@code bin/verify} lists: nothing of the locks ran there.
 */
@Tag("defect-B6")
@Tag("one-jdk")
@Isolated("captures the output")
@ExtendWith(OutputCaptureExtension.class)
class RefusedStartTest {

  @SpringBootApplication(proxyBeanMethods = false)
  static class Application {}

  /** Also with the locks switched off, so that nobody hears of it only in production. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void theStartFailsWithTheReason(boolean enabled, CapturedOutput output) {
    assertThat(SpringBootVersion.getVersion()).isEqualTo(System.getProperty("boot.version"));
    assertThatThrownBy(
            () -> SpringApplication.run(Application.class, "--amqp-locks.enabled=" + enabled))
        .hasRootCauseInstanceOf(LockConfigurationException.class);
    assertThat(output)
        .contains("APPLICATION FAILED TO START")
        .contains("needs Spring Boot 4.0 or newer")
        .contains("runs on Spring Boot " + SpringBootVersion.getVersion())
        .contains("Upgrade the application")
        .contains("use amqp-locks-core");
  }
}
