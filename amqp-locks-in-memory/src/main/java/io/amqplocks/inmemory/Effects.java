package io.amqplocks.inmemory;

import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** What is to run when the table's monitor is left. */
final class Effects {

  private static final Logger log = LoggerFactory.getLogger(Effects.class);

  private final List<Runnable> all = new ArrayList<>();

  void add(Runnable effect) {
    all.add(effect);
  }

  /** Each of them runs, whatever becomes of the others. */
  void run() {
    for (Runnable effect : all) {
      try {
        effect.run();
      } catch (RuntimeException | Error e) {
        log.warn("A result of a lock was not delivered; all others are", e);
      }
    }
  }
}
