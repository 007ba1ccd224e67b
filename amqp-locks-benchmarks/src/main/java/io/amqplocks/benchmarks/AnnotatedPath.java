package io.amqplocks.benchmarks;

import io.amqplocks.AmqpLocks;
import io.amqplocks.spring.LockHandle;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.SemaphoreGuarded;
import io.amqplocks.spring.autoconfigure.AmqpLocksAutoConfiguration;
import java.util.Map;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.core.env.MapPropertySource;

/**
 * A call of an annotated method through its proxy, beside the same lock taken by the template that
 * the proxy uses: the difference is what the annotation costs.
 *
 * @param keyed whether the call computes the lock's key
 */
record AnnotatedPath(boolean keyed) implements CorePath {

  private static final String NAME = "annotated";

  /** As an application has it. */
  static class Work {
    @SemaphoreGuarded(name = NAME)
    long plain(long number) {
      return number;
    }

    @SemaphoreGuarded(name = NAME, key = "#number")
    long keyed(long number) {
      return number;
    }
  }

  @Override
  public String name() {
    return keyed ? "annotated method with a key" : "annotated method";
  }

  @Override
  public Goal goal() {
    double micros = keyed ? Double.NaN : 5;
    return new Goal("≤ 5 µs more", row -> row.ours() - row.floor(), micros, true);
  }

  @Override
  public String floor() {
    return "the same by LockTemplate.execute, on a classic token semaphore";
  }

  @Override
  public Sides open(Lab lab) {
    String name = keyed ? NAME + ":7" : NAME;
    lab.tokens(admin -> admin.tokenSemaphore(name), "token-semaphore." + name);
    lab.tokens(admin -> admin.tokenSemaphore(NAME), "token-semaphore." + NAME);
    AmqpLocks locks = lab.locks();
    AnnotationConfigApplicationContext application =
        lab.closing(new AnnotationConfigApplicationContext());
    application
        .getEnvironment()
        .getPropertySources()
        .addFirst(
            new MapPropertySource(
                "bench",
                Map.of(
                    "amqp-locks.semaphores." + NAME + ".slots",
                    "1",
                    "amqp-locks.semaphore-queue-type",
                    "classic")));
    application.registerBean(AmqpLocks.class, () -> locks);
    application.register(AmqpLocksAutoConfiguration.class, Work.class);
    application.refresh();
    Work work = application.getBean(Work.class);
    LockHandle semaphore = application.getBean(LockTemplate.class).semaphore(name);
    return new Sides(
        Timed.of(() -> checked(keyed ? work.keyed(7) : work.plain(7))),
        Timed.of(() -> checked(semaphore.execute(() -> 7L))));
  }

  private static void checked(long result) {
    if (result != 7) {
      throw new IllegalStateException("The work gave " + result);
    }
  }
}
