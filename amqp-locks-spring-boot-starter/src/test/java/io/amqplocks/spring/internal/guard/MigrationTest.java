package io.amqplocks.spring.internal.guard;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import jakarta.annotation.PostConstruct;
import java.util.Arrays;
import java.util.function.BooleanSupplier;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.ApplicationArguments;
import org.springframework.boot.ApplicationRunner;
import org.springframework.boot.SpringBootConfiguration;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.context.event.ApplicationReadyEvent;
import org.springframework.context.event.ContextClosedEvent;
import org.springframework.context.event.EventListener;
import org.springframework.context.support.GenericApplicationContext;
import org.springframework.core.env.Environment;

/** What the refusal of a guarded {@code @PostConstruct} tells users to do instead. */
@Tag("defect-B5")
@BrokerTest
class MigrationTest {

  @AutoClose private final LocksOnBroker onBroker;

  MigrationTest(Broker broker) {
    onBroker = new LocksOnBroker(broker);
  }

  /** Writes down whether the lock was held when the work was done. */
  static class Work {
    private final BooleanSupplier held;
    private String done = "";

    Work(BooleanSupplier held) {
      this.held = held;
    }

    void work() {
      done += held.getAsBoolean() ? "held" : "unguarded";
    }
  }

  static class Runner implements ApplicationRunner {
    private final Work work;

    Runner(Work work) {
      this.work = work;
    }

    @Override
    @MutexGuarded(name = "${test.lock}")
    public void run(ApplicationArguments arguments) {
      work.work();
    }
  }

  static class WhenReady {
    private final Work work;

    WhenReady(Work work) {
      this.work = work;
    }

    @EventListener(ApplicationReadyEvent.class)
    @MutexGuarded(name = "${test.lock}")
    void migrate() {
      work.work();
    }
  }

  static class WithTemplate {
    private final Work work;
    private final LockTemplate locks;
    private final String name;

    WithTemplate(Work work, LockTemplate locks, Environment environment) {
      this.work = work;
      this.locks = locks;
      name = environment.getRequiredProperty("test.lock");
    }

    @PostConstruct
    void migrate() {
      locks.mutex(name).execute(work::work);
    }
  }

  static class AtTheEnd {
    private final Work work;

    AtTheEnd(Work work) {
      this.work = work;
    }

    @EventListener(ContextClosedEvent.class)
    @MutexGuarded(name = "${test.lock}")
    void end() {
      work.work();
    }
  }

  @SpringBootConfiguration(proxyBeanMethods = false)
  @EnableAutoConfiguration
  static class Application {}

  @ParameterizedTest
  @ValueSource(classes = {Runner.class, WhenReady.class, WithTemplate.class, AtTheEnd.class})
  void runsOnceUnderItsLock(Class<?> migration) {
    Work work = new Work(onBroker::isMutexHeld);
    new SpringApplicationBuilder(Application.class)
        .web(WebApplicationType.NONE)
        .initializers(
            context -> {
              GenericApplicationContext beans = (GenericApplicationContext) context;
              beans.registerBean(Work.class, () -> work);
              beans.registerBean(migration);
            })
        .run(
            Arrays.stream(onBroker.properties())
                .map(property -> "--" + property)
                .toArray(String[]::new))
        .close();
    assertThat(work.done).isEqualTo("held");
  }
}
