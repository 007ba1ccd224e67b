package io.amqplocks.waiting;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.Lease;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Virtual threads that wait for a lock, or for the broker, hold up no other. */
@BrokerTest
@EnabledForJreRange(min = JRE.JAVA_21, disabledReason = "this JDK has no virtual threads")
class VirtualThreadsTest {

  @RegisterExtension private final Fixture fixture = new Fixture();

  private static final Duration LONG = Duration.ofMinutes(2);
  private static final int THREADS = 200;
  private static final int ROUNDS = 3;

  @Test
  void noneIsPinned(Broker broker) throws Exception {
    Queue<RecordedEvent> pinned = new ConcurrentLinkedQueue<>();
    try (RecordingStream recording = new RecordingStream()) {
      AmqpLocks locks = fixture.open();
      locks.admin().tokenSemaphore("t").create(3, TokenQueueType.CLASSIC);
      fixture.create(locks, "s", 3);
      List<AmqpLock> all =
          List.of(
              locks.mutex("m"),
              locks.tokenSemaphore("t"),
              locks.slotSemaphore("s"),
              locks.fencedMutex("f"));
      recording.enable("jdk.VirtualThreadPinned").withoutThreshold().withStackTrace();
      recording.onEvent("jdk.VirtualThreadPinned", pinned::add);
      recording.startAsync();
      AtomicInteger had = new AtomicInteger();
      work(all, had);
      // Waits for the events that are still under way; newer than our oldest JDK.
      RecordingStream.class.getMethod("stop").invoke(recording);
      assertThat(had).hasValue(THREADS * ROUNDS);
      assertThat(pinned).filteredOn(VirtualThreadsTest::isOurs).isEmpty();
    }
  }

  private static void work(List<AmqpLock> locks, AtomicInteger had) throws Exception {
    ExecutorService virtual =
        (ExecutorService) Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
    try {
      List<Future<?>> working = new ArrayList<>();
      for (int i = 0; i < THREADS; i++) {
        AmqpLock lock = locks.get(i % locks.size());
        working.add(
            virtual.submit(
                () -> {
                  for (int round = 0; round < ROUNDS; round++) {
                    try (Lease lease = lock.acquire(LONG)) {
                      had.incrementAndGet();
                    }
                  }
                  return null;
                }));
      }
      for (Future<?> each : working) {
        each.get(3, TimeUnit.MINUTES);
      }
    } finally {
      virtual.shutdownNow();
    }
  }

  /** Loading a class pins the thread that needs it first; that is nobody's lock. */
  private static boolean isOurs(RecordedEvent event) {
    List<String> frames =
        event.getStackTrace().getFrames().stream()
            .map(frame -> frame.getMethod().getType().getName())
            .toList();
    return frames.stream().anyMatch(name -> name.startsWith("io.amqplocks."))
        && frames.stream().noneMatch(name -> name.contains("ClassLoader"));
  }
}
