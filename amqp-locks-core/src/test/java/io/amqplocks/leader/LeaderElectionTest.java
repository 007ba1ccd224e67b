package io.amqplocks.leader;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.leader.Revocation.Cause;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockName;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.BrokerTest;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

@BrokerTest(everyLine = true)
class LeaderElectionTest {

  private static final Duration LONG = Duration.ofSeconds(60);

  @RegisterExtension private final Fixture fixture = new Fixture();
  private final List<LeaderElection> elections = new ArrayList<>();
  private final List<String> events = new CopyOnWriteArrayList<>();

  @AfterEach
  void close() {
    elections.forEach(LeaderElection::close);
  }

  /** Writes down what it is told of, with its name. */
  private LeaderListener recorder(String name) {
    return new LeaderListener() {
      @Override
      public void granted(Leadership leadership) {
        events.add("granted " + name);
      }

      @Override
      public void revoked(Leadership leadership, Revocation revocation) {
        events.add("revoked " + name + " " + revocation.cause());
      }
    };
  }

  private LeaderElectionBuilder on(AmqpLock lock, String name) {
    return LeaderElection.on(lock)
        .listener(recorder(name))
        .grace(Duration.ofSeconds(20))
        .yieldPause(Duration.ofMillis(500));
  }

  private LeaderElection started(LeaderElectionBuilder settings) {
    LeaderElection election = settings.build();
    elections.add(election);
    election.start();
    return election;
  }

  private LeaderElection contender(String name) {
    return started(on(fixture.open().mutex("m"), name));
  }

  private static Leadership leads(LeaderElection election) throws InterruptedException {
    return election.awaitLeadership(LONG).orElseThrow();
  }

  @Test
  void theNextLeadsAfterAPoliteStop() throws Exception {
    LeaderElection first = contender("a");
    Leadership term = leads(first);
    LeaderElection second = contender("b");
    assertThat(second.awaitLeadership(Duration.ofMillis(300))).isEmpty();
    assertThat(first.isLeader()).isTrue();
    assertThat(first.leadership()).contains(term);
    assertThat(second.isLeader()).isFalse();
    first.close();
    assertThat(first.isLeader()).isFalse();
    assertThat(term.isCurrent()).isFalse();
    assertThat(term.revocation().orElseThrow().cause()).isEqualTo(Cause.CLOSED);
    leads(second);
    await()
        .untilAsserted(
            () -> assertThat(events).containsExactly("granted a", "revoked a CLOSED", "granted b"));
  }

  @ParameterizedTest
  @ValueSource(strings = {"mutex", "fenced", "persistent", "exclusive"})
  void everyKindOfMutexElectsOneAndTheNext(String kind) throws Exception {
    List<LeaderElection> both = new ArrayList<>();
    long token = 0;
    for (String name : List.of("a", "b")) {
      // A doubt of the first one would make the second one lead.
      AmqpLocks locks = fixture.open(fixture.seldomVerifying());
      if (kind.equals("persistent")) {
        fixture.enable(locks, "m");
      }
      AmqpLock lock =
          switch (kind) {
            case "mutex" -> locks.mutex("m").fenced();
            case "fenced" -> locks.fencedMutex("m");
            case "persistent" -> locks.persistentMutex("m").fenced();
            default -> locks.exclusiveQueueMutex("m").fenced();
          };
      LeaderElection election = started(on(lock, name));
      if (name.equals("a")) {
        token = number(leads(election));
      }
      both.add(election);
    }
    both.get(0).close();
    assertThat(number(leads(both.get(1)))).isGreaterThan(token);
  }

  private static long number(Leadership leadership) {
    return leadership.fencingToken().map(FencingToken::number).orElseThrow();
  }

  /** One leads, and the other one waits at the broker. */
  private void bothContend() {
    fixture.awaitConsumers(fixture.names().mutex(LockName.of("m")), 2);
  }

  @Test
  void aLeaderThatYieldsLetsOthersGoFirstAndContendsAgain() throws Exception {
    LeaderElection first = contender("a");
    leads(first);
    LeaderElection second = contender("b");
    bothContend();
    assertThat(second.yieldLeadership()).isFalse();
    assertThat(first.yieldLeadership()).isTrue();
    assertThat(first.isLeader()).isFalse();
    assertThat(first.yieldLeadership()).isFalse();
    leads(second);
    bothContend();
    assertThat(second.yieldLeadership()).isTrue();
    leads(first);
    second.close();
    assertThat(first.isLeader()).isTrue();
    await()
        .untilAsserted(
            () ->
                assertThat(events)
                    .containsExactly(
                        "granted a",
                        "revoked a YIELDED",
                        "granted b",
                        "revoked b YIELDED",
                        "granted a"));
  }

  @Test
  void aLeaderThatYieldsLeadsAgainIfNobodyElseContends() throws Exception {
    LeaderElection only = contender("a");
    Leadership before = leads(only);
    assertThat(only.yieldLeadership()).isTrue();
    await().until(() -> before.revocation().isPresent());
    assertThat(leads(only)).isNotEqualTo(before);
    assertThat(before.isCurrent()).isFalse();
  }

  @Test
  void theNextBeginsAfterTheTaskAndTheListenersHaveEnded() throws Exception {
    CountDownLatch interrupted = new CountDownLatch(1);
    CountDownLatch mayEnd = new CountDownLatch(1);
    LeaderElection first =
        started(
            on(fixture.open().mutex("m"), "a")
                .task(
                    leadership -> {
                      events.add("task begins");
                      try {
                        new CountDownLatch(1).await();
                      } catch (InterruptedException e) {
                        interrupted.countDown();
                        mayEnd.await();
                        events.add("task ends");
                      }
                    }));
    leads(first);
    await().until(() -> events.contains("task begins"));
    LeaderElection second = contender("b");
    Thread closer = new Thread(first::close);
    closer.start();
    assertThat(interrupted.await(30, TimeUnit.SECONDS)).isTrue();
    assertThat(first.isLeader()).isFalse();
    assertThat(second.awaitLeadership(Duration.ofSeconds(1))).isEmpty();
    mayEnd.countDown();
    leads(second);
    closer.join(30_000);
    assertThat(closer.isAlive()).isFalse();
    await()
        .untilAsserted(
            () ->
                assertThat(events)
                    .containsExactlyInAnyOrder(
                        "granted a", "task begins", "revoked a CLOSED", "task ends", "granted b")
                    .endsWith("granted b")
                    .startsWith("granted a", "task begins"));
  }

  @Test
  void aTaskThatDoesNotReactDelaysTheNextByTheGracePeriodAndIsNotRunTwice() throws Exception {
    CountDownLatch mayEnd = new CountDownLatch(1);
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    LeaderElection first =
        started(
            on(fixture.open().mutex("m"), "a")
                .grace(Duration.ofMillis(500))
                .yieldPause(Duration.ZERO)
                .task(
                    leadership -> {
                      most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                      while (mayEnd.getCount() > 0) {
                        try {
                          mayEnd.await();
                        } catch (InterruptedException e) {
                          events.add("task is interrupted");
                        }
                      }
                      inside.decrementAndGet();
                    }));
    leads(first);
    await().untilAtomic(inside, org.hamcrest.Matchers.is(1));
    LeaderElection second = contender("b");
    assertThat(first.yieldLeadership()).isTrue();
    leads(second);
    assertThat(inside).hasValue(1);
    second.close();
    assertThat(first.awaitLeadership(Duration.ofSeconds(1))).isEmpty();
    mayEnd.countDown();
    leads(first);
    assertThat(most).hasValue(1);
    assertThat(events).contains("task is interrupted");
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void theEndOfTheTaskEndsTheTerm(boolean fails) throws Exception {
    CountDownLatch mayEnd = new CountDownLatch(1);
    LeaderElection first =
        started(
            on(fixture.open().mutex("m"), "a")
                .task(
                    leadership -> {
                      mayEnd.await();
                      if (fails) {
                        throw new IllegalStateException("for the test");
                      }
                    }));
    Leadership term = leads(first);
    LeaderElection second = contender("b");
    mayEnd.countDown();
    leads(second);
    Revocation revocation = term.revocation().orElseThrow();
    assertThat(revocation.cause()).isEqualTo(Cause.TASK_ENDED);
    assertThat(revocation.detail()).contains(fails ? "for the test" : "returned");
  }

  @Test
  void aListenerThatFailsChangesNothing() throws Exception {
    LeaderListener failing =
        new LeaderListener() {
          @Override
          public void granted(Leadership leadership) {
            throw new IllegalStateException("granted");
          }

          @Override
          public void revoked(Leadership leadership, Revocation revocation) {
            throw new AssertionError("revoked");
          }
        };
    LeaderElection election =
        started(
            LeaderElection.on(fixture.open().mutex("m")).listener(failing).listener(recorder("a")));
    leads(election);
    election.close();
    assertThat(events).containsExactly("granted a", "revoked a CLOSED");
  }

  /** Kotlin has no checked exceptions, and neither have some libraries for Java. */
  @Test
  void aListenerThatFailsWithACheckedExceptionChangesNothing() throws Exception {
    LeaderListener failing =
        new LeaderListener() {
          @Override
          public void granted(Leadership leadership) {
            sneaky(new IOException("granted"));
          }

          @Override
          public void revoked(Leadership leadership, Revocation revocation) {
            sneaky(new IOException("revoked"));
          }
        };
    LeaderElection election =
        started(
            LeaderElection.on(fixture.open().mutex("m"))
                .listener(failing)
                .listener(recorder("a"))
                .task(leadership -> events.add("task")));
    await().untilAsserted(() -> assertThat(events).startsWith("granted a", "task"));
    election.close();
    assertThat(events.get(2)).startsWith("revoked a");
  }

  @SuppressWarnings("unchecked")
  private static <E extends Exception> void sneaky(Exception failure) throws E {
    throw (E) failure;
  }

  @Test
  void aListenerAndATaskMayCloseTheElection() throws Exception {
    AmqpLocks locks = fixture.open();
    CountDownLatch closed = new CountDownLatch(2);
    List<LeaderElection> self = new CopyOnWriteArrayList<>();
    LeaderElectionBuilder byListener =
        LeaderElection.on(locks.mutex("l"))
            .listener(
                new LeaderListener() {
                  @Override
                  public void granted(Leadership leadership) {
                    self.get(0).close();
                    closed.countDown();
                  }
                });
    LeaderElectionBuilder byTask =
        LeaderElection.on(locks.mutex("t"))
            .task(
                leadership -> {
                  self.get(1).close();
                  closed.countDown();
                });
    for (LeaderElectionBuilder each : List.of(byListener, byTask)) {
      LeaderElection election = each.build();
      elections.add(election);
      self.add(election);
    }
    self.forEach(LeaderElection::start);
    assertThat(closed.await(30, TimeUnit.SECONDS)).isTrue();
    await().until(() -> locks.leases().isEmpty());
    assertThat(self).noneMatch(LeaderElection::isLeader);
  }

  @Test
  void aLossEndsTheTermAndItContendsAgain() throws Exception {
    LeaderElection election = started(on(fixture.open(fixture.seldomVerifying()).mutex("m"), "a"));
    Leadership term = leads(election);
    fixture.delete(fixture.names().mutex(io.amqplocks.lock.LockName.of("m")));
    await().atMost(Fixture.AT_ONCE).until(() -> !term.isCurrent());
    assertThat(leads(election)).isNotEqualTo(term);
    await()
        .untilAsserted(
            () -> assertThat(events).containsExactly("granted a", "revoked a LOST", "granted a"));
    assertThat(term.revocation().orElseThrow().detail()).contains("REVOKED");
  }

  @Test
  void aTermOfTheLongestAllowedTimeIsFollowedByAnother() throws Exception {
    AmqpLock limited = fixture.open().mutex("m").holdAtMost(Duration.ofMillis(300));
    LeaderElection election = started(on(limited, "a"));
    Leadership first = leads(election);
    await().until(() -> !first.isCurrent());
    await().until(() -> first.revocation().isPresent());
    assertThat(first.revocation().orElseThrow().toString()).contains("LOST").contains("HOLD_LIMIT");
    assertThat(leads(election)).isNotEqualTo(first);
  }

  @Test
  void theEndOfTheLocksEndsTheElection() throws Exception {
    AmqpLocks locks = fixture.open();
    LeaderElection leading = started(on(locks.mutex("m"), "a"));
    LeaderElection waiting = started(on(locks.mutex("m"), "b"));
    leads(leading.awaitLeadership(Duration.ofSeconds(30)).isPresent() ? leading : waiting);
    locks.close();
    await().until(() -> !leading.isLeader() && !waiting.isLeader());
    assertThat(leading.awaitLeadership(LONG)).isEmpty();
    assertThat(waiting.awaitLeadership(LONG)).isEmpty();
    await().until(() -> events.size() == 2);
    assertThat(events.get(1)).startsWith("revoked ");
  }

  @Test
  void startAndCloseMayBeCalledAgain() throws Exception {
    AmqpLocks locks = fixture.open();
    LeaderElection election = on(locks.mutex("m"), "a").build();
    elections.add(election);
    assertThat(election.awaitLeadership(Duration.ZERO)).isEmpty();
    election.addListener(recorder("late"));
    election.start();
    election.start();
    leads(election);
    election.close();
    election.close();
    assertThat(events)
        .containsExactly("granted a", "granted late", "revoked a CLOSED", "revoked late CLOSED");
    assertThat(locks.leases()).isEmpty();
    assertThatThrownBy(election::start)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("'m'");
    LeaderElection never = on(locks.mutex("m"), "b").build();
    never.close();
    assertThat(never.awaitLeadership(LONG)).isEmpty();
    assertThatThrownBy(never::start).isInstanceOf(IllegalStateException.class);
  }

  @Test
  void aListenerThatWasRemovedIsNotNotified() throws Exception {
    LeaderElection election = on(fixture.open().mutex("m"), "a").build();
    elections.add(election);
    LeaderListener leaving = recorder("leaving");
    election.addListener(leaving);
    election.start();
    leads(election);
    await().untilAsserted(() -> assertThat(events).contains("granted leaving"));
    election.removeListener(leaving);
    election.close();
    assertThat(events).containsExactly("granted a", "granted leaving", "revoked a CLOSED");
  }

  /** As by the context that the first one's event closes. */
  @Test
  void aListenerThatAnotherOneRemovesIsNotNotified() throws Exception {
    LeaderElection election = on(fixture.open().mutex("m"), "a").build();
    elections.add(election);
    LeaderListener leaving = recorder("leaving");
    election.addListener(
        new LeaderListener() {
          @Override
          public void granted(Leadership leadership) {
            election.removeListener(leaving);
          }
        });
    election.addListener(leaving);
    election.start();
    leads(election);
    election.close();
    assertThat(events).containsExactly("granted a", "revoked a CLOSED");
  }

  /** That lock, but for one method. */
  private static AmqpLock lockWith(AmqpLock real, String method, Callable<Object> instead) {
    return with(AmqpLock.class, real, method, instead);
  }

  private static <T> T with(Class<T> type, T real, String method, Callable<Object> instead) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, called, arguments) -> {
              try {
                return called.getName().equals(method)
                    ? instead.call()
                    : called.invoke(real, arguments);
              } catch (InvocationTargetException e) {
                throw e.getTargetException();
              }
            }));
  }

  /**
   * The contender is held up: who waits for leadership has the guard when it asks for the state of
   * the lease, and closes the election just then.
   */
  @Test
  void whoClosesLeadsNoMoreThoughTheContenderHasNotNoticed() throws Exception {
    AmqpLocks locks = fixture.open();
    AtomicReference<LeaderElection> self = new AtomicReference<>();
    AtomicReference<@Nullable Thread> closing = new AtomicReference<>();
    List<Boolean> leadsAfterwards = new CopyOnWriteArrayList<>();
    AmqpLock lock =
        lockWith(
            locks.mutex("m"),
            "acquire",
            () -> {
              Lease real = locks.mutex("m").acquire(LONG);
              return with(
                  Lease.class,
                  real,
                  "state",
                  () -> {
                    if (closing.compareAndSet(Thread.currentThread(), null)) {
                      self.get().close();
                      leadsAfterwards.add(self.get().isLeader());
                    }
                    return real.state();
                  });
            });
    LeaderListener closer =
        new LeaderListener() {
          @Override
          public void granted(Leadership leadership) {
            closing.set(Thread.currentThread());
            try {
              boolean unused = self.get().awaitLeadership(LONG).isPresent();
            } catch (InterruptedException e) {
              throw new IllegalStateException(e);
            }
          }
        };
    LeaderElection election = on(lock, "a").listener(closer).build();
    elections.add(election);
    self.set(election);
    election.start();
    await().until(() -> events.contains("revoked a CLOSED"));
    election.close();
    assertThat(leadsAfterwards).containsExactly(false);
    assertThat(events).containsExactly("granted a", "revoked a CLOSED");
    assertThat(locks.leases()).isEmpty();
  }

  @Test
  void whoIsClosedWhileItTriesToStartKeepsNoLock() {
    AmqpLocks locks = fixture.open();
    AtomicReference<LeaderElection> self = new AtomicReference<>();
    AmqpLock closing =
        lockWith(
            locks.mutex("m"),
            "tryAcquire",
            () -> {
              Optional<Lease> lease = locks.mutex("m").tryAcquire();
              self.get().close();
              return lease;
            });
    self.set(on(closing, "a").build());
    assertThatThrownBy(() -> self.get().tryStart()).isInstanceOf(IllegalStateException.class);
    assertThat(locks.leases()).isEmpty();
    assertThat(events).isEmpty();
  }

  @Test
  void afterAnyFailureItContendsAgain() throws Exception {
    AmqpLocks locks = fixture.open();
    AtomicInteger calls = new AtomicInteger();
    AmqpLock failing =
        lockWith(
            locks.mutex("m"),
            "acquire",
            () -> {
              if (calls.incrementAndGet() < 3) {
                throw new NoClassDefFoundError("for the test");
              }
              return locks.mutex("m").acquire(LONG);
            });
    leads(started(on(failing, "a")));
    assertThat(calls).hasValue(3);
    await().untilAsserted(() -> assertThat(events).containsExactly("granted a"));
  }

  /** A look at the lease fails as it may when no thread can be started, or the release fails. */
  @ParameterizedTest
  @ValueSource(strings = {"state", "close"})
  void aTermThatFailsIsRevokedAndTheNextWaitsForItsTask(String failing) throws Exception {
    AmqpLocks locks = fixture.open();
    String contender = "amqp-locks leader " + locks.mutex("m").id().name();
    AtomicBoolean fails = new AtomicBoolean();
    AmqpLock lock =
        lockWith(
            locks.mutex("m"),
            "acquire",
            () -> {
              Lease real = locks.mutex("m").acquire(LONG);
              return with(
                  Lease.class,
                  real,
                  failing,
                  () -> {
                    Object result = failing.equals("state") ? real.state() : closed(real);
                    if (Thread.currentThread().getName().equals(contender)
                        && fails.compareAndSet(true, false)) {
                      throw new OutOfMemoryError("for the test");
                    }
                    return result;
                  });
            });
    CountDownLatch mayEnd = new CountDownLatch(1);
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    LeaderElection election =
        started(
            on(lock, "a")
                .grace(Duration.ofMillis(500))
                .yieldPause(Duration.ZERO)
                .task(
                    leadership -> {
                      most.accumulateAndGet(inside.incrementAndGet(), Math::max);
                      while (mayEnd.getCount() > 0) {
                        try {
                          mayEnd.await();
                        } catch (InterruptedException e) {
                          events.add("task is interrupted");
                        }
                      }
                      inside.decrementAndGet();
                      if (leadership.isCurrent()) {
                        new CountDownLatch(1).await();
                      }
                    }));
    Leadership term = leads(election);
    await().untilAtomic(inside, org.hamcrest.Matchers.is(1));
    fails.set(true);
    if (failing.equals("close")) {
      assertThat(election.yieldLeadership()).isTrue();
    }
    await().untilFalse(fails);
    assertThat(election.awaitLeadership(Duration.ofSeconds(2)).filter(next -> !next.equals(term)))
        .isEmpty();
    assertThat(term.revocation().map(Revocation::cause))
        .contains(failing.equals("state") ? Cause.UNCERTAIN : Cause.YIELDED);
    mayEnd.countDown();
    assertThat(leads(election)).isNotEqualTo(term);
    assertThat(most).hasValue(1);
    await()
        .untilAsserted(
            () ->
                assertThat(events.stream().filter(event -> !event.startsWith("task")))
                    .containsExactly(
                        "granted a",
                        "revoked a " + term.revocation().orElseThrow().cause(),
                        "granted a"));
    assertThat(events).contains("task is interrupted");
  }

  private static String closed(Lease lease) {
    lease.close();
    return "";
  }

  @Test
  void aCloseEndsTheWaitForTheLock() throws Exception {
    LeaderElection first = contender("a");
    leads(first);
    AmqpLocks locks = fixture.open();
    LeaderElection second = started(on(locks.mutex("m"), "b"));
    await().until(() -> locks.waiting().size() == 1);
    second.close();
    assertThat(locks.waiting()).isEmpty();
    assertThat(first.isLeader()).isTrue();
    await().untilAsserted(() -> assertThat(events).containsExactly("granted a"));
  }

  @Test
  void onlyAMutexElectsALeader() {
    AmqpLocks locks = fixture.open();
    List<AmqpLock> others =
        List.of(
            locks.slotSemaphore("s"),
            locks.tokenSemaphore("s"),
            locks.readWriteLock("s").readLock(),
            locks.readWriteLock("s").writeLock());
    for (AmqpLock lock : others) {
      assertThatThrownBy(() -> LeaderElection.on(lock))
          .isInstanceOfSatisfying(
              LockException.Invalid.class,
              refusal -> assertThat(refusal.lock()).contains(lock.id()))
          .hasMessageContaining("'s'")
          .hasMessageContaining("locks.mutex(\"s\")");
    }
    LeaderElectionBuilder settings = LeaderElection.on(locks.mutex("m"));
    for (Duration wrong : List.of(Duration.ofSeconds(-1), Duration.ofSeconds(Long.MAX_VALUE))) {
      assertThatThrownBy(() -> settings.grace(wrong))
          .isInstanceOf(LockException.Invalid.class)
          .hasMessageContaining("grace");
      assertThatThrownBy(() -> settings.yieldPause(wrong))
          .isInstanceOf(LockException.Invalid.class)
          .hasMessageContaining("yieldPause");
    }
  }

  /** Five clients in a storm of yields and closes: grants and revocations alternate everywhere. */
  @Test
  void neverTwoAtATime() throws Exception {
    AtomicInteger inside = new AtomicInteger();
    AtomicInteger most = new AtomicInteger();
    AtomicInteger terms = new AtomicInteger();
    List<LeaderElection> contenders = new CopyOnWriteArrayList<>();
    List<AmqpLock> locks = new ArrayList<>();
    for (int i = 0; i < 5; i++) {
      locks.add(fixture.open().mutex("m"));
    }
    LeaderListener counter =
        new LeaderListener() {
          @Override
          public void granted(Leadership leadership) {
            most.accumulateAndGet(inside.incrementAndGet(), Math::max);
            terms.incrementAndGet();
          }

          @Override
          public void revoked(Leadership leadership, Revocation revocation) {
            inside.decrementAndGet();
          }
        };
    for (AmqpLock lock : locks) {
      contenders.add(
          started(LeaderElection.on(lock).listener(counter).yieldPause(Duration.ofMillis(5))));
    }
    for (int round = 0; round < 60; round++) {
      int before = terms.get();
      await().pollInterval(Duration.ofMillis(2)).until(() -> leader(contenders).isPresent());
      assertThat(contenders.stream().filter(LeaderElection::isLeader).count())
          .isLessThanOrEqualTo(1);
      LeaderElection leader = leader(contenders).orElse(contenders.get(0));
      if (ThreadLocalRandom.current().nextInt(4) == 0) {
        leader.close();
        int place = contenders.indexOf(leader);
        contenders.set(
            place,
            started(
                LeaderElection.on(locks.get(place))
                    .listener(counter)
                    .yieldPause(Duration.ofMillis(5))));
      } else {
        boolean unused = leader.yieldLeadership();
      }
      await().pollInterval(Duration.ofMillis(2)).until(() -> terms.get() > before);
    }
    contenders.forEach(LeaderElection::close);
    assertThat(inside).hasValue(0);
    assertThat(most).hasValue(1);
  }

  private static Optional<LeaderElection> leader(List<LeaderElection> contenders) {
    return contenders.stream().filter(LeaderElection::isLeader).findFirst();
  }
}
