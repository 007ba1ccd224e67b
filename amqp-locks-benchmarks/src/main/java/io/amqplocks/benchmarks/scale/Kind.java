package io.amqplocks.benchmarks.scale;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.AmqpLock;

/** A kind of lock with one slot, in the order of the tables. */
enum Kind {
  MUTEX("mutex") {
    @Override
    AmqpLock lock(AmqpLocks locks, String name) {
      return locks.mutex(name);
    }
  },
  SLOTS("slot semaphore") {
    @Override
    void create(AmqpLocks locks, String name) {
      locks.admin().slotSemaphore(name).create(1);
    }

    @Override
    AmqpLock lock(AmqpLocks locks, String name) {
      return locks.slotSemaphore(name);
    }
  },
  CLASSIC_TOKENS("classic tokens") {
    @Override
    void create(AmqpLocks locks, String name) {
      locks.admin().tokenSemaphore(name).create(1, TokenQueueType.CLASSIC);
    }

    @Override
    AmqpLock lock(AmqpLocks locks, String name) {
      return locks.tokenSemaphore(name);
    }
  },
  FENCED_MUTEX("fenced mutex") {
    @Override
    AmqpLock lock(AmqpLocks locks, String name) {
      return locks.fencedMutex(name);
    }
  };

  private final String title;

  Kind(String title) {
    this.title = title;
  }

  String title() {
    return title;
  }

  /** Creates it, if it is of a kind that its first acquire does not create. */
  void create(AmqpLocks locks, String name) {}

  /** The lock of that name. */
  abstract AmqpLock lock(AmqpLocks locks, String name);
}
