package io.amqplocks.internal.exclusive;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.amqplocks.internal.lease.HeldLease;
import io.amqplocks.internal.lease.LeaseFactory;
import io.amqplocks.internal.session.LeaseSessions;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.LockException;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.ProberSession;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** An attempt that wins nothing leaves no connection open, whatever its end. */
@BrokerTest(embedded = true)
class ExclusiveLeasesTest {

  @RegisterExtension private final Fixture fixture = new Fixture();
  private final AtomicReference<Session> own = new AtomicReference<>();
  private ProberSession shared;

  @BeforeEach
  void connect() {
    shared =
        new ProberSession(fixture.broker().connectionFactory(), "attempts", Duration.ofSeconds(10));
  }

  @AfterEach
  void close() {
    shared.close();
  }

  private Optional<HeldLease> attempt(LeaseFactory attempts) {
    LeaseFactory noting =
        (call, session, contest) -> {
          own.set(session);
          assertThat(session.connection().isOpen()).isTrue();
          return attempts.take(call, session, contest);
        };
    return new ExclusiveLeases(noting, new LeaseSessions(session -> {}))
        .take(shared.call(), shared.session(), (call, session) -> Optional.empty());
  }

  private void assertOnlyTheSharedOneIsOpen() {
    assertThat(own.get()).isNotSameAs(shared.session());
    assertThat(own.get().isOpen()).isFalse();
    await().until(() -> !own.get().connection().isOpen());
    assertThat(shared.session().isOpen()).isTrue();
  }

  @Test
  void oneThatFindsTheSlotHeldClosesItsConnection() {
    assertThat(attempt((call, session, contest) -> Optional.empty())).isEmpty();
    assertThat(own.get().connection().isOpen()).as("when it returns").isFalse();
    assertOnlyTheSharedOneIsOpen();
  }

  static Stream<Throwable> failures() {
    return Stream.of(
        new LockException.NotFound("for the test"),
        new LockException.Refused("for the test", null),
        new LockException.Unanswered("for the test"),
        new LockException.Unreachable("for the test", null),
        new IllegalStateException("for the test"),
        new AssertionError("for the test"));
  }

  @ParameterizedTest
  @MethodSource("failures")
  void oneThatFailsClosesItsConnection(Throwable failure) {
    assertThatThrownBy(
            () ->
                attempt(
                    (call, session, contest) -> {
                      if (failure instanceof Error error) {
                        throw error;
                      }
                      throw (RuntimeException) failure;
                    }))
        .isSameAs(failure);
    assertOnlyTheSharedOneIsOpen();
  }
}
