package io.amqplocks.internal.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind;
import io.amqplocks.lock.LockName;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class QueueNamesTest {

  private final QueueNames names = new QueueNames(QueueNames.DEFAULT_PREFIX);

  @Test
  void areWhatTheDocumentationSays() {
    LockName images = LockName.of("images");
    assertThat(names.mutex(images)).isEqualTo("amqp-locks.mutex.images");
    assertThat(names.exclusiveQueueMutex(images)).isEqualTo("amqp-locks.mutex.images");
    assertThat(names.persistentMutex(images)).isEqualTo("amqp-locks.persistent-mutex.images");
    assertThat(names.slot(images, 3)).isEqualTo("amqp-locks.semaphore.images.slot.3");
    assertThat(names.holder(images, 3)).isEqualTo("amqp-locks.semaphore.images.holder.3");
    assertThat(names.admin(images)).isEqualTo("amqp-locks.semaphore.images.admin");
    FenceCounter own = FenceCounter.of(LockId.mutex("report"), 1);
    assertThat(names.counter(own, 2)).isEqualTo("amqp-locks.fence.mutex.report.1.2");
    assertThat(names.epoch(own, 2)).isEqualTo("amqp-locks.epoch.mutex.report.1.2");
    assertThat(names.counterAdmin(own)).isEqualTo("amqp-locks.fence.mutex.report.1.admin");
    FenceCounter shared = FenceCounter.of(LockId.mutex("orders:4712"), 1);
    assertThat(names.counter(shared, 2)).isEqualTo("amqp-locks.fence.keyed-mutex.orders.12.2");
    assertThat(names.epoch(shared, 2)).isEqualTo("amqp-locks.epoch.keyed-mutex.orders.12.2");
    assertThat(names.counterAdmin(shared))
        .isEqualTo("amqp-locks.fence.keyed-mutex.orders.12.admin");
  }

  @Test
  void neverMeanTwoLocks() {
    List<String> tricky =
        List.of(
            "a",
            "a.slot",
            "a.slot.1",
            "a.slot.1.slot.1",
            "a.holder.1",
            "a.admin",
            "slot.1",
            "1",
            "a.1",
            "a.1.1",
            "a.1.admin",
            "a:1",
            "a.slot:1",
            "a.1:1.1");
    Set<FenceCounter> counters = new HashSet<>();
    Set<String> all = new HashSet<>();
    for (String each : tricky) {
      LockName name = LockName.of(each);
      for (int slot : new int[] {1, 11}) {
        assertThat(all.add(names.slot(name, slot))).isTrue();
        assertThat(all.add(names.holder(name, slot))).isTrue();
        assertThat(FenceCounter.of(new LockId(LockKind.READ_LOCK, name), slot))
            .as("the counter of the writers")
            .isEqualTo(FenceCounter.of(new LockId(LockKind.WRITE_LOCK, name), slot));
        for (LockKind kind : EnumSet.complementOf(EnumSet.of(LockKind.READ_LOCK))) {
          FenceCounter counter = FenceCounter.of(new LockId(kind, name), slot);
          assertThat(counters.add(counter)).isTrue();
          assertThat(all.add(names.counter(counter, 1))).isTrue();
          assertThat(all.add(names.counter(counter, 11))).isTrue();
          assertThat(all.add(names.epoch(counter, 1))).isTrue();
          assertThat(all.add(names.epoch(counter, 11))).isTrue();
          assertThat(all.add(names.counterAdmin(counter))).isTrue();
        }
      }
      assertThat(all.add(names.admin(name))).isTrue();
      assertThat(all.add(names.mutex(name))).isTrue();
      assertThat(all.add(names.persistentMutex(name))).isTrue();
      assertThat(all.add(names.readWrite(name))).isTrue();
      assertThat(all.add(names.readWriteGate(name))).isTrue();
    }
  }

  @Test
  void fitIntoAQueueName() {
    String prefix = "p".repeat(QueueNames.MAX_PREFIX_BYTES);
    LockName longest = LockName.of("ü".repeat(100));
    QueueNames longNames = new QueueNames(prefix);
    List<String> queues = new ArrayList<>(List.of(longNames.holder(longest, 10_000)));
    for (LockKind kind : LockKind.values()) {
      LockId lock = new LockId(kind, longest);
      LockName longestWithAKey = LockName.of("ü".repeat(99) + "a:");
      for (LockName name : List.of(longest, longestWithAKey)) {
        FenceCounter counter = FenceCounter.of(new LockId(kind, name), 10_000);
        queues.add(longNames.counter(counter, 999));
        queues.add(longNames.epoch(counter, 999));
        queues.add(longNames.counterAdmin(counter));
        queues.add(longNames.counterTrial(counter, "12345678"));
      }
      queues.add(longNames.tokenTrial(lock, "12345678"));
      queues.add(longNames.recordTrial(lock, "12345678"));
      queues.add(longNames.tokens(lock, 999_999_999));
    }
    assertThat(queues)
        .allMatch(queue -> queue.getBytes(StandardCharsets.UTF_8).length <= 255)
        .anyMatch(queue -> queue.getBytes(StandardCharsets.UTF_8).length == 255);
    assertThatThrownBy(() -> new QueueNames(prefix + "p"))
        .isInstanceOf(LockException.Invalid.class)
        .hasMessageContaining("prefix");
    assertThatThrownBy(() -> new QueueNames("amq.locks"))
        .isInstanceOf(LockException.Invalid.class)
        .hasMessageContaining("amq.");
  }
}
