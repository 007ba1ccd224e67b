package io.amqplocks.internal.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind;
import io.amqplocks.lock.LockName;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
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
    LockId mutex = LockId.mutex("report");
    assertThat(names.counter(mutex, 1, 2)).isEqualTo("amqp-locks.fence.mutex.report.1.2");
    assertThat(names.epoch(mutex, 1, 2)).isEqualTo("amqp-locks.epoch.mutex.report.1.2");
    assertThat(names.counterAdmin(mutex, 1)).isEqualTo("amqp-locks.fence.mutex.report.1.admin");
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
            "a.1.admin");
    Set<String> all = new HashSet<>();
    for (String each : tricky) {
      LockName name = LockName.of(each);
      for (int slot : new int[] {1, 11}) {
        assertThat(all.add(names.slot(name, slot))).isTrue();
        assertThat(all.add(names.holder(name, slot))).isTrue();
        for (LockKind kind : LockKind.values()) {
          LockId lock = new LockId(kind, name);
          assertThat(all.add(names.counter(lock, slot, 1))).isTrue();
          assertThat(all.add(names.counter(lock, slot, 11))).isTrue();
          assertThat(all.add(names.epoch(lock, slot, 1))).isTrue();
          assertThat(all.add(names.epoch(lock, slot, 11))).isTrue();
          assertThat(all.add(names.counterAdmin(lock, slot))).isTrue();
        }
      }
      assertThat(all.add(names.admin(name))).isTrue();
      assertThat(all.add(names.mutex(name))).isTrue();
      assertThat(all.add(names.persistentMutex(name))).isTrue();
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
      queues.add(longNames.counter(lock, 10_000, 999));
      queues.add(longNames.epoch(lock, 10_000, 999));
      queues.add(longNames.counterAdmin(lock, 10_000));
      queues.add(longNames.counterTrial(lock, "12345678"));
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
