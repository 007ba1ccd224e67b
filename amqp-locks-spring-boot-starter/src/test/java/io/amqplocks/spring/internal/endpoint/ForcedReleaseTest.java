package io.amqplocks.spring.internal.endpoint;

import static io.amqplocks.spring.internal.endpoint.EndpointApplication.OPENED;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import io.amqplocks.lock.LossReason;
import io.amqplocks.spring.LockHandle;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.spring.internal.endpoint.EndpointApplication.Answer;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.ResourceLock;
import org.junit.jupiter.api.parallel.Resources;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** What a DELETE does: all who hold a lock lose it, and nobody else. */
@BrokerTest(everyLine = true)
@ResourceLock(Resources.SYSTEM_OUT) // one captures at a time; others may print
@ExtendWith(OutputCaptureExtension.class)
class ForcedReleaseTest {

  private static final Duration LONG = Duration.ofSeconds(30);

  @AutoClose private final LocksOnBroker onBroker;

  ForcedReleaseTest(Broker broker) {
    onBroker = new LocksOnBroker(broker);
  }

  private EndpointApplication application() {
    return new EndpointApplication(
        onBroker,
        OPENED,
        "amqp-locks.semaphores.images.slots=3",
        "amqp-locks.semaphores.one.slots=1",
        "amqp-locks.semaphores.videos.slots=2",
        "amqp-locks.semaphores.videos.algorithm=slots",
        "amqp-locks.mutexes.images.wait=20s",
        "amqp-locks.mutexes.report.algorithm=tokens",
        "amqp-locks.read-write-locks.prices.wait=20s");
  }

  @Test
  void aPersistentMutexIsEnabledTakenAndDisabled() {
    try (EndpointApplication application = application()) {
      String path = "amqplocks/mutex/nightly?algorithm=persistent";
      String inBody = "{\"algorithm\":\"persistent\",\"enabled\":%s}";
      Answer enabled = application.post("amqplocks/mutex/nightly", inBody.formatted(true));
      assertThat(enabled.status()).as(enabled.text()).isEqualTo(200);
      assertThat(enabled.<Boolean>read("$.lock.broker.exists")).isTrue();

      try (AmqpLocks other = onBroker.stranger()) {
        Lease lease = other.persistentMutex("nightly").tryAcquire().orElseThrow();
        assertThat(application.get(path).<Integer>read("$.broker.inUse")).isEqualTo(1);
        Answer taken = application.delete(path);
        assertThat(taken.status()).as(taken.text()).isEqualTo(200);
        assertThat(taken.<String>read("$.done")).contains("0 of this process, 1 of others");
        await().atMost(LONG).until(() -> lease.state() == LeaseState.LOST);
      }
      application.post("amqplocks/mutex/nightly", inBody.formatted(false));
      assertThat(application.get(path).status()).isEqualTo(404);
    }
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "semaphore/images",
        "semaphore/videos",
        "mutex/images",
        "mutex/report",
        "read-lock/prices",
        "write-lock/prices"
      })
  void aLeaseOfThisProcessIsTakenBackAndItsHolderToldSo(String lock) throws Exception {
    try (EndpointApplication application = application()) {
      LockTemplate locks = application.bean(LockTemplate.class);
      String name = lock.substring(lock.indexOf('/') + 1);
      Lease lease = handle(locks, lock.substring(0, lock.indexOf('/')), name).acquire();
      Answer answer = application.delete("amqplocks/" + lock);
      assertThat(answer.status()).as(answer.text()).isEqualTo(200);
      assertThat(answer.<String>read("$.done")).contains("taken back: 1 of this process");
      LossReason reason = lease.whenLost().toCompletableFuture().get(30, TimeUnit.SECONDS);
      assertThat(reason.cause()).isEqualTo(LossReason.Cause.REVOKED);
      assertThat(reason.detail()).contains("an unknown user", "amqplocks");
      await()
          .atMost(LONG)
          .until(() -> application.get("amqplocks/" + lock).<Integer>read("$.broker.inUse") == 0);
      Answer all = application.get("amqplocks");
      assertThat(all.<String>read("$.lastLoss.what")).contains(name, "REVOKED");
      assertThat(Instant.parse(all.<String>read("$.lastLoss.at")))
          .isBefore(Instant.now().plusSeconds(1));
    }
  }

  private static LockHandle handle(LockTemplate locks, String kind, String name) {
    return switch (kind) {
      case "mutex" -> locks.mutex(name);
      case "read-lock" -> locks.readLock(name);
      case "write-lock" -> locks.writeLock(name);
      default -> locks.semaphore(name);
    };
  }

  /** The broker does not say which side others hold. */
  @Test
  void aReadWriteLockIsTakenFromThisProcessAndExplainedForOthers(Broker broker) {
    try (EndpointApplication application = application();
        AmqpLocks other = onBroker.stranger()) {
      Lease here = application.bean(LockTemplate.class).readLock("prices").acquire();
      Answer none = application.delete("amqplocks/write-lock/prices");
      assertThat(none.status()).as(none.text()).isEqualTo(200);
      assertThat(here.verify()).isEqualTo(LeaseState.HELD);
      Lease there = other.readWriteLock("prices").readLock().tryAcquire().orElseThrow();
      assertThat(application.get("amqplocks/read-lock/prices").<Integer>read("$.broker.inUse"))
          .isEqualTo(2);
      assertThat(application.get("amqplocks/write-lock/prices").<Integer>read("$.here.held"))
          .isZero();

      Answer answer = application.delete("amqplocks/read-lock/prices");
      String queue = onBroker.administer(admin -> admin.holderQueue(there.lock(), 1).orElseThrow());
      String remedy = "rabbitmqctl delete_queue -p '/' '" + queue + "'. That takes it from all";
      assertThat(answer.status()).as(answer.text()).isEqualTo(200);
      assertThat(answer.<String>read("$.done")).contains("1 of this process, 0 of others");
      assertThat(answer.<String>read("$.next")).contains(remedy);
      assertThat(here.state()).isEqualTo(LeaseState.LOST);

      await()
          .atMost(LONG)
          .untilAsserted(
              () -> {
                Answer refused = application.delete("amqplocks/write-lock/prices");
                assertThat(refused.status()).as(refused.text()).isEqualTo(409);
                assertThat(refused.<String>read("$.error")).contains(remedy);
              });
      assertThat(there.verify()).isEqualTo(LeaseState.HELD);
      // The remedy is one.
      broker.faults().deleteQueue(queue);
      await().atMost(LONG).until(() -> there.state() == LeaseState.LOST);
    }
  }

  @Test
  void tokensOfOthersAreReplaced() {
    try (EndpointApplication application = application();
        AmqpLocks other = onBroker.stranger()) {
      Lease lease = other.tokenSemaphore("images").tryAcquire().orElseThrow();
      Answer answer = application.delete("amqplocks/semaphore/images?timeout=100ms");
      assertThat(answer.status()).as(answer.text()).isEqualTo(200);
      assertThat(answer.<String>read("$.done")).contains("0 of this process, 1 of others");
      assertThat(answer.<Integer>read("$.lock.broker.slots")).isEqualTo(3);
      awaitAllFree(application);
      await().atMost(LONG).until(() -> lease.verify() == LeaseState.LOST);
    }
  }

  /** As 10 ms, the holders would not have the ten seconds that the operator meant. */
  @ParameterizedTest
  @ValueSource(strings = {"10", "10x"})
  void aTimeNeedsAUnit(String timeout) {
    try (EndpointApplication application = application();
        AmqpLocks other = onBroker.stranger()) {
      Lease lease = other.tokenSemaphore("images").tryAcquire().orElseThrow();
      Answer answer = application.delete("amqplocks/semaphore/images?timeout=" + timeout);
      assertThat(answer.status()).as(answer.text()).isEqualTo(400);
      assertThat(answer.text()).contains("timeout = '" + timeout + "'");
      assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
    }
  }

  private static void awaitAllFree(EndpointApplication application) {
    await()
        .atMost(LONG)
        .until(
            () ->
                application.get("amqplocks/semaphore/images").<Integer>read("$.broker.free") == 3);
  }

  /** Who waits has the token before anybody can look whether it is still in use. */
  @ParameterizedTest
  @ValueSource(strings = {"semaphore/one", "mutex/report", "mutex/nightly?algorithm=persistent"})
  void whoeverIsNextKeepsIt(String path) throws Exception {
    try (EndpointApplication application = application();
        AmqpLocks other = onBroker.stranger()) {
      AmqpLocks own = application.bean(AmqpLocks.class);
      own.admin().persistentMutex("nightly").enable();
      application.bean(LockTemplate.class).semaphore("one").tryAcquire().orElseThrow().close();
      Lease lease = acquire(own, path).get(30, TimeUnit.SECONDS);
      CompletableFuture<Lease> waiting = acquire(other, path);
      await().atMost(LONG).until(() -> !other.waiting().isEmpty());

      Answer answer = application.delete("amqplocks/" + path);
      assertThat(answer.status()).as(answer.text()).isEqualTo(200);
      assertThat(answer.<String>read("$.done"))
          .isEqualTo("leases taken back: 1 of this process, 0 of others");
      assertThat(lease.state()).isEqualTo(LeaseState.LOST);
      try (Lease next = waiting.get(30, TimeUnit.SECONDS)) {
        assertThat(next.verify()).isEqualTo(LeaseState.HELD);
        assertThat(acquire(own, path, Duration.ZERO)).failsWithin(LONG);
      }
    }
  }

  private static CompletableFuture<Lease> acquire(AmqpLocks locks, String path) {
    return acquire(locks, path, LONG);
  }

  private static CompletableFuture<Lease> acquire(AmqpLocks locks, String path, Duration wait) {
    AmqpLock lock =
        switch (path) {
          case "semaphore/one" -> locks.tokenSemaphore("one");
          case "mutex/report" -> locks.fencedMutex("report");
          default -> locks.persistentMutex("nightly");
        };
    return lock.acquireAsync(wait);
  }

  @Test
  void tokensOfOthersAreReplacedAndThoseOfThisProcessTakenBack() {
    try (EndpointApplication application = application();
        AmqpLocks other = onBroker.stranger()) {
      Lease here = application.bean(LockTemplate.class).semaphore("images").acquire();
      Lease there = other.tokenSemaphore("images").tryAcquire().orElseThrow();
      Answer answer = application.delete("amqplocks/semaphore/images?timeout=100ms");
      assertThat(answer.status()).as(answer.text()).isEqualTo(200);
      assertThat(answer.<String>read("$.done")).contains("1 of this process,");
      assertThat(answer.<Integer>read("$.lock.broker.slots")).isEqualTo(3);
      awaitAllFree(application);
      assertThat(here.state()).isEqualTo(LeaseState.LOST);
      await().atMost(LONG).until(() -> there.verify() == LeaseState.LOST);
    }
  }

  /** A lease of several permits is as many slots, and none of them is another's. */
  @ParameterizedTest
  @ValueSource(strings = {"images", "videos"})
  void aLeaseOfSeveralPermitsIsThisProcesssAlone(String name) throws Exception {
    try (EndpointApplication application = application();
        AmqpLocks other = onBroker.stranger()) {
      AmqpLocks own = application.bean(AmqpLocks.class);
      int slots = application.get("amqplocks/semaphore/" + name).read("$.broker.slots");
      // All of them: whoever waits for several has those that are free.
      Lease lease = semaphore(own, name).withPermits(slots).acquire(LONG);
      CompletableFuture<Lease> waiting = semaphore(other, name).withPermits(2).acquireAsync(LONG);
      await().atMost(LONG).until(() -> !other.waiting().isEmpty());

      Answer answer = application.delete("amqplocks/semaphore/" + name);
      assertThat(answer.status()).as(answer.text()).isEqualTo(200);
      assertThat(answer.<String>read("$.done"))
          .isEqualTo("leases taken back: 1 of this process, 0 of others");
      assertThat(answer.json().<Map<String, Object>>read("$")).doesNotContainKey("next");
      assertThat(lease.state()).isEqualTo(LeaseState.LOST);
      try (Lease next = waiting.get(30, TimeUnit.SECONDS)) {
        assertThat(next.permits()).isEqualTo(2);
        assertThat(next.verify()).isEqualTo(LeaseState.HELD);
      }
    }
  }

  private static AmqpLock semaphore(AmqpLocks locks, String name) {
    return name.equals("videos") ? locks.slotSemaphore(name) : locks.tokenSemaphore(name);
  }

  /** Nobody can acquire for as long as the request waits, so it must be short. */
  @ParameterizedTest
  @ValueSource(strings = {"61s", "10d", "-1s"})
  void noTimeoutKeepsEverybodyWaiting(String timeout) {
    try (EndpointApplication application = application()) {
      Lease lease = application.bean(LockTemplate.class).semaphore("images").acquire();
      Answer answer = application.delete("amqplocks/semaphore/images?timeout=" + timeout);
      assertThat(answer.status()).as(answer.text()).isEqualTo(400);
      assertThat(answer.<String>read("$.error")).contains("nobody can acquire", "PT1M");
      assertThat(lease.verify()).isEqualTo(LeaseState.HELD);
    }
  }

  @Test
  void ofAMisspeltNameNothingIsSaidToBeDone() {
    try (EndpointApplication application = application()) {
      for (String path :
          List.of("semaphore/imagse", "mutex/imagse", "mutex/imagse?algorithm=persistent")) {
        Answer answer = application.delete("amqplocks/" + path);
        assertThat(answer.status()).as(path + answer.text()).isEqualTo(404);
        assertThat(answer.<String>read("$.error")).contains("imagse");
      }
      assertThat(application.delete("amqplocks/mutex/images").status()).isEqualTo(200);
    }
  }

  @Test
  void theLogSaysWhoAskedBeforeAndWhatCameOfItAfter(CapturedOutput output) {
    String images = onBroker.name(); // a name that nobody else prints
    String slots = "amqp-locks.semaphores." + images + ".slots=1";
    try (EndpointApplication application = new EndpointApplication(onBroker, OPENED, slots);
        AmqpLocks other = onBroker.stranger()) {
      application.bean(LockTemplate.class).semaphore(images).acquire();
      application.delete("amqplocks/semaphore/" + images);
      assertThat(output.getOut())
          .containsSubsequence(
              "token semaphore '" + images + "': take back, asked by an unknown user",
              "token semaphore '"
                  + images
                  + "': leases taken back: 1 of this process, 0 of others");

      Lease mutex = other.mutex(images).tryAcquire().orElseThrow();
      application.delete("amqplocks/mutex/" + images);
      assertThat(mutex.state()).isEqualTo(LeaseState.HELD);
      assertThat(output.getOut())
          .containsSubsequence(
              "mutex '" + images + "': take back, asked by an unknown user",
              "mutex '" + images + "': take back failed: ",
              "rabbitmqctl delete_queue");
    }
  }

  /** A name is one word for the shell into which an operator pastes the command. */
  @Test
  void theCommandNamesTheQueueWhateverIsInItsName(Broker broker) throws Exception {
    String name = "o'brien $HOME `id`";
    try (EndpointApplication application = application();
        AmqpLocks other = onBroker.stranger()) {
      Lease lease = other.mutex(name).tryAcquire().orElseThrow();
      Answer answer = application.delete("amqplocks/mutex/" + EndpointApplication.inPath(name));
      assertThat(answer.status()).as(answer.text()).isEqualTo(409);
      String error = answer.read("$.error");
      String command = error.substring(error.indexOf("rabbitmqctl"));
      Process shell =
          new ProcessBuilder("sh", "-c", command.replace("rabbitmqctl", "printf '%s\\n'")).start();
      String queue = onBroker.administer(admin -> admin.holderQueue(lease.lock(), 1).orElseThrow());
      assertThat(shell.inputReader().lines()).containsExactly("delete_queue", "-p", "/", queue);
    }
  }

  @Test
  void whatOnlyTheBrokersOperatorCanTakeIsExplained(Broker broker) {
    try (EndpointApplication application = application();
        AmqpLocks other = onBroker.stranger()) {
      Lease mutex = other.mutex("images").tryAcquire().orElseThrow();
      Lease slot = other.slotSemaphore("videos").tryAcquire().orElseThrow();
      Answer answer = application.delete("amqplocks/mutex/images");
      assertThat(answer.status()).isEqualTo(409);
      String queue = onBroker.administer(admin -> admin.holderQueue(mutex.lock(), 1).orElseThrow());
      assertThat(answer.<String>read("$.error"))
          .contains("rabbitmqctl delete_queue -p '/' '" + queue + "'");
      Answer slots = application.delete("amqplocks/semaphore/videos");
      assertThat(slots.status()).isEqualTo(409);
      assertThat(slots.<String>read("$.error")).contains("holder." + slot.slot() + "'");
      assertThat(mutex.verify()).isEqualTo(LeaseState.HELD);
      // The remedy is one.
      broker.faults().deleteQueue(queue);
      await().atMost(LONG).until(() -> mutex.state() == LeaseState.LOST);
    }
  }
}
