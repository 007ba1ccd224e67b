package io.amqplocks.benchmarks.peers;

import com.rabbitmq.client.ConnectionFactory;
import io.etcd.jetcd.Client;
import java.sql.DriverManager;
import java.util.Collection;
import java.util.EnumMap;
import java.util.Map;
import net.javacrumbs.shedlock.provider.jdbctemplate.JdbcTemplateLockProvider;
import net.javacrumbs.shedlock.provider.redis.spring.RedisLockProvider;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.redisson.Redisson;
import org.springframework.integration.jdbc.lock.JdbcLockRegistry;
import org.springframework.integration.redis.util.RedisLockRegistry;

/** The versions of the clients. */
final class Clients {

  private Clients() {}

  static Map<Peer, String> versions(Collection<Peer> peers) throws Exception {
    Map<Peer, String> versions = new EnumMap<>(Peer.class);
    for (Peer peer : peers) {
      versions.put(
          peer,
          Installed.jar(
              switch (peer) {
                case AMQP_LOCKS -> ConnectionFactory.class;
                case REDISSON -> Redisson.class;
                case CURATOR -> InterProcessMutex.class;
                case POSTGRESQL -> DriverManager.getDriver("jdbc:postgresql:").getClass();
                case JETCD -> Client.class;
                case SPRING_INTEGRATION_REDIS -> RedisLockRegistry.class;
                case SPRING_INTEGRATION_JDBC -> JdbcLockRegistry.class;
                case SHED_LOCK_REDIS -> RedisLockProvider.class;
                case SHED_LOCK_JDBC -> JdbcTemplateLockProvider.class;
              }));
    }
    return versions;
  }
}
