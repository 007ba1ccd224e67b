package io.amqplocks.spring.internal.endpoint;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LossReason;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.autoconfigure.AmqpLocksEndpointAutoConfiguration;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.security.Principal;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** What depends on who asks. */
@BrokerTest
@ResourceLock(Resources.SYSTEM_OUT) // one captures at a time; others may print
@ExtendWith(OutputCaptureExtension.class)
class EndpointCallerTest {

  /** A user with roles, as Spring Security tells Actuator. */
  private record User(String name, List<String> roles) implements SecurityContext {
    @Override
    public @Nullable Principal getPrincipal() {
      return () -> name;
    }

    @Override
    public boolean isUserInRole(String role) {
      return roles.contains(role);
    }
  }

  private static final User OPERATOR = new User("alice", List.of("OPS"));
  private static final User GUEST = new User("bob", List.of("GUEST"));

  @AutoClose private final LocksOnBroker onBroker;
  private final ApplicationContextRunner application;

  EndpointCallerTest(Broker broker) {
    onBroker = new LocksOnBroker(broker);
    application =
        onBroker
            .application()
            .withConfiguration(AutoConfigurations.of(AmqpLocksEndpointAutoConfiguration.class))
            .withPropertyValues(
                "management.endpoints.web.exposure.include=amqplocks",
                "amqp-locks.mutexes.report.algorithm=tokens");
  }

  private static @Nullable String tokenShownTo(AmqpLocksEndpoint endpoint, SecurityContext caller) {
    return endpoint.locks(caller).locks().get(0).here().leases().get(0).fencingToken();
  }

  @Test
  void whoIsAuthorizedSeesFencingTokens() {
    ApplicationContextRunner whenAuthorized =
        application.withPropertyValues("management.endpoint.amqplocks.show-values=when-authorized");
    whenAuthorized
        .withPropertyValues("management.endpoint.amqplocks.roles=OPS")
        .run(
            context -> {
              AmqpLocksEndpoint endpoint = context.getBean(AmqpLocksEndpoint.class);
              Lease lease = context.getBean(LockTemplate.class).mutex("report").fenced().acquire();
              String token = lease.fencingToken().toString();
              assertThat(tokenShownTo(endpoint, OPERATOR)).isEqualTo(token);
              assertThat(tokenShownTo(endpoint, GUEST)).isEqualTo("******");
              assertThat(tokenShownTo(endpoint, SecurityContext.NONE)).isEqualTo("******");
            });
    whenAuthorized.run(
        context -> {
          AmqpLocksEndpoint endpoint = context.getBean(AmqpLocksEndpoint.class);
          context.getBean(LockTemplate.class).mutex("report").fenced().acquire();
          assertThat(tokenShownTo(endpoint, GUEST)).isNotEqualTo("******");
          assertThat(tokenShownTo(endpoint, SecurityContext.NONE)).isEqualTo("******");
        });
  }

  @Test
  void aChangeNamesWhoAskedForIt(CapturedOutput output) {
    application.run(
        context -> {
          Lease lease = context.getBean(LockTemplate.class).mutex("report").acquire();
          AmqpLocksEndpoint endpoint = context.getBean(AmqpLocksEndpoint.class);
          endpoint.forceRelease(OPERATOR, "mutex", new String[] {"report"}, null, null);
          LossReason reason = Objects.requireNonNull(lease.lossReason().orElse(null));
          assertThat(reason.detail())
              .isEqualTo("taken back by user alice by the endpoint amqplocks");
          assertThat(output.getOut()).contains("take back, asked by user alice");
        });
  }
}
