package io.amqplocks.benchmarks.peers;

import com.zaxxer.hikari.HikariDataSource;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Lock;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.integration.jdbc.lock.DefaultLockRepository;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry.RedisLockType;
import org.springframework.jdbc.support.JdbcTransactionManager;

/** The lock registries of Spring Integration, with their default times. */
final class SpringIntegrationPeer {

  /** What the scripts of Spring Integration create, of its lock. */
  static final String TABLE =
      """
      CREATE TABLE INT_LOCK (
        LOCK_KEY CHAR(36) NOT NULL,
        REGION VARCHAR(100) NOT NULL,
        CLIENT_ID CHAR(36),
        CREATED_DATE TIMESTAMP NOT NULL,
        EXPIRED_AFTER TIMESTAMP NOT NULL,
        CONSTRAINT INT_LOCK_PK PRIMARY KEY (LOCK_KEY, REGION))
      """;

  private SpringIntegrationPeer() {}

  /** A registry for each way to wait. */
  static PeerClient redis(String address) {
    LettuceConnectionFactory redis = SpringClients.redis(address);
    RedisLockRegistry spinning = new RedisLockRegistry(redis, "spin");
    RedisLockRegistry subscribed = new RedisLockRegistry(redis, "pub-sub");
    subscribed.setRedisLockType(RedisLockType.PUB_SUB_LOCK);
    return new PeerClient() {
      @Override
      public PeerLock lock(Kind kind, String name) {
        return switch (kind) {
          case REDIS_LOCK_REGISTRY -> of(spinning.obtain(name));
          case REDIS_LOCK_REGISTRY_PUB_SUB -> of(subscribed.obtain(name));
          default -> throw new IllegalArgumentException("Not RedisLockRegistry's: " + kind);
        };
      }

      @Override
      public void close() {
        spinning.destroy();
        subscribed.destroy();
        redis.destroy();
      }
    };
  }

  static PeerClient jdbc(String address) {
    HikariDataSource database = SpringClients.database(address);
    DefaultLockRepository repository = new DefaultLockRepository(database);
    repository.setTransactionManager(new JdbcTransactionManager(database));
    repository.afterPropertiesSet();
    repository.afterSingletonsInstantiated();
    repository.start();
    JdbcLockRegistry registry = new JdbcLockRegistry(repository);
    return new PeerClient() {
      @Override
      public PeerLock lock(Kind kind, String name) {
        if (kind != Kind.JDBC_LOCK_REGISTRY) {
          throw new IllegalArgumentException("Not JdbcLockRegistry's: " + kind);
        }
        return of(registry.obtain(name));
      }

      @Override
      public void close() {
        repository.stop();
        database.close();
      }
    };
  }

  private static PeerLock of(Lock lock) {
    return wait -> isLocked(lock, wait) ? Optional.of(lock::unlock) : Optional.empty();
  }

  private static boolean isLocked(Lock lock, Duration wait) throws InterruptedException {
    return wait.isZero() ? lock.tryLock() : lock.tryLock(wait.toMillis(), TimeUnit.MILLISECONDS);
  }
}
