package io.amqplocks.lines.woven;

import io.amqplocks.spring.SemaphoreGuarded;
import java.util.function.IntSupplier;

/** A final class, which calls a private method of its own. */
final class Uploads {

  int uploadAll(IntSupplier slotsInUse) {
    return upload(slotsInUse);
  }

  @SemaphoreGuarded(name = "images", slots = 2)
  private int upload(IntSupplier slotsInUse) {
    return slotsInUse.getAsInt();
  }
}
