package io.amqplocks.internal.topology;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockName;
import java.nio.charset.StandardCharsets;
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
    assertThat(names.persistentMutex(images)).isEqualTo("amqp-locks.persistent-mutex.images");
    assertThat(names.slot(images, 3)).isEqualTo("amqp-locks.semaphore.images.slot.3");
    assertThat(names.holder(images, 3)).isEqualTo("amqp-locks.semaphore.images.holder.3");
    assertThat(names.admin(images)).isEqualTo("amqp-locks.semaphore.images.admin");
  }

  @Test
  void neverMeanTwoLocks() {
    List<String> tricky =
        List.of(
            "a", "a.slot", "a.slot.1", "a.slot.1.slot.1", "a.holder.1", "a.admin", "slot.1", "1");
    Set<String> all = new HashSet<>();
    for (String each : tricky) {
      LockName name = LockName.of(each);
      for (int slot : new int[] {1, 11}) {
        assertThat(all.add(names.slot(name, slot))).isTrue();
        assertThat(all.add(names.holder(name, slot))).isTrue();
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
    String queue = new QueueNames(prefix).holder(longest, 10_000);
    assertThat(queue.getBytes(StandardCharsets.UTF_8)).hasSize(255);
    assertThatThrownBy(() -> new QueueNames(prefix + "p"))
        .isInstanceOf(LockException.Invalid.class)
        .hasMessageContaining("prefix");
    assertThatThrownBy(() -> new QueueNames("amq.locks"))
        .isInstanceOf(LockException.Invalid.class)
        .hasMessageContaining("amq.");
  }
}
