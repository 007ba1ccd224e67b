package io.amqplocks.spring.internal.guard;

import static java.util.Objects.requireNonNull;
import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.Lease;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.MutexAlgorithm;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.SemaphoreGuarded;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** Parameters that the interceptor fills in. */
@BrokerTest
class FencedMethodTest {

  @AutoClose private final LocksOnBroker onBroker;

  FencedMethodTest(Broker broker) {
    onBroker = new LocksOnBroker(broker);
  }

  static class Work {
    @MutexGuarded(name = "${test.lock}")
    @Nullable FencingToken mutex(@Nullable FencingToken token) {
      return token;
    }

    @MutexGuarded(name = "tokens-${test.lock}", algorithm = MutexAlgorithm.TOKENS)
    CompletableFuture<@Nullable FencingToken> future(String other, @Nullable FencingToken token) {
      return CompletableFuture.completedFuture(token);
    }

    @SemaphoreGuarded(name = "${test.lock}", slots = 1)
    Mono<FencingToken> mono(@Nullable FencingToken token) {
      return Mono.justOrEmpty(token);
    }

    @MutexGuarded(name = "a-${test.lock}")
    @MutexGuarded(name = "z-${test.lock}", fenced = true)
    @SemaphoreGuarded(name = "${test.lock}")
    String oneOfSeveral(@Nullable Lease lease, @Nullable FencingToken token) {
      Lease given = requireNonNull(lease);
      assertThat(token).isEqualTo(given.fencingToken());
      return given.lock().name().value();
    }
  }

  private static void rise(Stream<@Nullable FencingToken> tokens) {
    assertThat(tokens.mapToLong(token -> token == null ? 0 : token.number()).toArray())
        .doesNotHaveDuplicates()
        .isSorted()
        .doesNotContain(0);
  }

  @Test
  void theTokenIsFilledIn() {
    onBroker
        .application()
        .withBean(Work.class)
        .run(
            context -> {
              Work work = context.getBean(Work.class);
              FencingToken made = new FencingToken(1, 1, 1);
              rise(Stream.of(work.mutex(null), work.mutex(made), work.mutex(null)));
              rise(
                  Stream.of(work.future("", null), work.future("", null))
                      .map(CompletableFuture::join));
              rise(
                  Stream.of(work.mono(null), work.mono(null))
                      .map(mono -> mono.block(Duration.ofSeconds(30))));
              assertThat(work.oneOfSeveral(null, null)).isEqualTo("z-" + onBroker.name());
              assertThat(context.getBean(AmqpLocks.class).status().held()).isZero();
            });
  }
}
