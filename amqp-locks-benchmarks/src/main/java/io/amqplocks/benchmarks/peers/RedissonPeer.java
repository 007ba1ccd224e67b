package io.amqplocks.benchmarks.peers;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import org.redisson.Redisson;
import org.redisson.api.RFencedLock;
import org.redisson.api.RLock;
import org.redisson.api.RPermitExpirableSemaphore;
import org.redisson.api.RSemaphore;
import org.redisson.api.RedissonClient;
import org.redisson.config.Config;

/** Redisson with its default settings. */
final class RedissonPeer {

  /** As long as the watchdog's time of Redisson's locks. */
  private static final Duration LEASE_TIME = Duration.ofSeconds(30);

  private RedissonPeer() {}

  static PeerClient connect(String address) {
    Config config = new Config();
    config.useSingleServer().setAddress(address);
    RedissonClient redisson = Redisson.create(config);
    return new PeerClient() {
      @Override
      public PeerLock lock(Kind kind, String name) {
        String key = name + "-" + kind;
        return switch (kind) {
          case R_LOCK -> of(redisson.getLock(key));
          case R_FAIR_LOCK -> of(redisson.getFairLock(key));
          case R_FENCED_LOCK -> of(redisson.getFencedLock(key));
          case R_SEMAPHORE -> of(redisson.getSemaphore(key), kind.slots());
          case R_PERMIT_EXPIRABLE_SEMAPHORE ->
              of(redisson.getPermitExpirableSemaphore(key), kind.slots());
          default -> throw new IllegalArgumentException("Not Redisson's: " + kind);
        };
      }

      @Override
      public Semaphore semaphore(Kind kind, String name, int slots) {
        String key = name + "-" + kind;
        PeerLock lock =
            kind == Kind.R_SEMAPHORE
                ? of(redisson.getSemaphore(key), slots)
                : of(redisson.getPermitExpirableSemaphore(key), slots);
        return new Semaphore(lock, () -> {});
      }

      @Override
      public void close() {
        redisson.shutdown();
      }
    };
  }

  private static PeerLock of(RLock lock) {
    return wait ->
        lock.tryLock(wait.toMillis(), TimeUnit.MILLISECONDS)
            ? Optional.of(verifiable(lock))
            : Optional.empty();
  }

  private static PeerLock of(RFencedLock lock) {
    return wait ->
        lock.tryLockAndGetToken(wait.toMillis(), TimeUnit.MILLISECONDS) != null
            ? Optional.of(verifiable(lock))
            : Optional.empty();
  }

  /** To be asked by the thread that acquired it. */
  private static VerifiableLease verifiable(RLock lock) {
    return new VerifiableLease(lock::isHeldByCurrentThread, lock::unlock);
  }

  /** Setting the number of permits again changes nothing. */
  private static PeerLock of(RSemaphore semaphore, int permits) {
    boolean unused = semaphore.trySetPermits(permits);
    return wait -> semaphore.tryAcquire(wait) ? Optional.of(semaphore::release) : Optional.empty();
  }

  private static PeerLock of(RPermitExpirableSemaphore semaphore, int permits) {
    boolean unused = semaphore.trySetPermits(permits);
    return wait ->
        Optional.ofNullable(
                semaphore.tryAcquire(wait.toMillis(), LEASE_TIME.toMillis(), TimeUnit.MILLISECONDS))
            .map(
                permit ->
                    new VerifiableLease(
                        () -> semaphore.getLeaseTime(permit) > 0, () -> semaphore.release(permit)));
  }
}
