package io.amqplocks.shedlock;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.core.SimpleLock;

/** A number in a file that is right only if one at a time adds to it. */
final class SharedCounter {

  private SharedCounter() {}

  static void add(LockProvider provider, String name, Path file, int times) throws Exception {
    for (int added = 0; added < times; ) {
      LockConfiguration wanted =
          new LockConfiguration(Instant.now(), name, Duration.ofMinutes(5), Duration.ZERO);
      Optional<SimpleLock> lock = provider.lock(wanted);
      if (lock.isPresent()) {
        Files.writeString(file, Integer.toString(1 + Integer.parseInt(Files.readString(file))));
        lock.get().unlock();
        added++;
      } else {
        // ShedLock's callers try again at their next schedule.
        TimeUnit.MILLISECONDS.sleep(5);
      }
    }
  }
}
