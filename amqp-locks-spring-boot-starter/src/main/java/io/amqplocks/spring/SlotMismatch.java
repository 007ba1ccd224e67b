package io.amqplocks.spring;

import io.amqplocks.lock.LockAdmin;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Does what {@link OnMismatch} says with a semaphore that exists with other slots than configured. */
final class SlotMismatch {

  private static final Logger log = LoggerFactory.getLogger(SlotMismatch.class);

  private final LockAdmin admin;
  private final LockCatalog catalog;

  SlotMismatch(LockAdmin admin, LockCatalog catalog) {
    this.admin = admin;
    this.catalog = catalog;
  }

  /**
   * The number of slots that counts from now on.
   *
   * @throws LockConfigurationException if that is a failure
   */
  int settle(LockId id, int actual, int wanted) {
    return switch (catalog.onMismatch(id)) {
      case ADOPT -> {
        log.warn("{} exists with {} slots, which count; configured are {}", id, actual, wanted);
        yield actual;
      }
      case RESIZE -> {
        resize(id, wanted);
        log.info("{} existed with {} slots and was given the {} configured", id, actual, wanted);
        yield wanted;
      }
      case FAIL -> throw differs(id, actual, wanted);
    };
  }

  private void resize(LockId id, int slots) {
    String name = id.name().value();
    if (id.kind() == LockKind.TOKEN_SEMAPHORE) {
      admin.tokenSemaphore(name).resize(slots);
    } else {
      admin.semaphore(name).resize(slots);
    }
  }

  private LockConfigurationException differs(LockId id, int actual, int wanted) {
    String property = LockCatalog.property(catalog.known(id));
    return new LockConfigurationException(
        "The %s has %d slots at the broker, configured are %d, and %s.on-mismatch is fail."
            .formatted(id, actual, wanted, property),
        "Configure %1$d slots, by %2$s.slots or in the annotations; or let an administrator resize it;"
                .formatted(actual, property)
            + " or set %1$s.on-mismatch to adopt, so that the broker's number counts, or to resize."
                .formatted(property));
  }
}
