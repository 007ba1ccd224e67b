package io.amqplocks.benchmarks.peers;

import com.zaxxer.hikari.HikariDataSource;
import java.time.Duration;
import java.time.Instant;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * ShedLock, which does not wait: who comes too late skips its turn. So its locks are asked once,
 * however long a caller would wait.
 */
final class ShedLockPeer {

  /** What ShedLock's documentation has its users create. */
  static final String TABLE =
      """
      CREATE TABLE shedlock (
        name VARCHAR(64) NOT NULL,
        lock_until TIMESTAMP NOT NULL,
        locked_at TIMESTAMP NOT NULL,
        locked_by VARCHAR(255) NOT NULL,
        PRIMARY KEY (name))
      """;

  private static final Duration AT_MOST = Duration.ofSeconds(30);

  private ShedLockPeer() {}

  static PeerClient redis(String address) {
    LettuceConnectionFactory redis = SpringClients.redis(address);
    return client(Kind.SHED_LOCK_REDIS, new RedisLockProvider(redis), redis::destroy);
  }

  static PeerClient jdbc(String address) {
    HikariDataSource database = SpringClients.database(address);
    LockProvider provider =
        new JdbcTemplateLockProvider(
            JdbcTemplateLockProvider.Configuration.builder()
                .withJdbcTemplate(new JdbcTemplate(database))
                .usingDbTime()
                .build());
    return client(Kind.SHED_LOCK_JDBC, provider, database::close);
  }

  private static PeerClient client(Kind only, LockProvider provider, Runnable end) {
    return new PeerClient() {
      @Override
      public PeerLock lock(Kind kind, String name) {
        if (kind != only) {
          throw new IllegalArgumentException("Not ShedLock's: " + kind);
        }
        return wait ->
            provider
                .lock(new LockConfiguration(Instant.now(), name, AT_MOST, Duration.ZERO))
                .map(lock -> lock::unlock);
      }

      @Override
      public void close() {
        end.run();
      }
    };
  }
}
