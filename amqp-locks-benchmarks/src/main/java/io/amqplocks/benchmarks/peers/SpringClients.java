package io.amqplocks.benchmarks.peers;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.net.URI;
import org.springframework.data.redis.connection.RedisStandaloneConfiguration;
import org.springframework.data.redis.connection.lettuce.LettuceConnectionFactory;

/** What Spring Boot gives a client that has no settings but the address. */
final class SpringClients {

  private SpringClients() {}

  static LettuceConnectionFactory redis(String address) {
    URI server = URI.create(address);
    LettuceConnectionFactory factory =
        new LettuceConnectionFactory(
            new RedisStandaloneConfiguration(server.getHost(), server.getPort()));
    factory.afterPropertiesSet();
    factory.start();
    return factory;
  }

  /** A pool of at most ten connections. */
  static HikariDataSource database(String address) {
    HikariConfig config = new HikariConfig();
    config.setJdbcUrl(address);
    return new HikariDataSource(config);
  }
}
