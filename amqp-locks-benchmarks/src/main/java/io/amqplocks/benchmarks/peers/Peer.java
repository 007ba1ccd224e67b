package io.amqplocks.benchmarks.peers;

import org.jspecify.annotations.Nullable;

/** A system with locks: its server, and the client that everybody uses. */
enum Peer {
  /** This library. */
  AMQP_LOCKS("amqp-locks"),
  /** On Redis. */
  REDISSON("Redisson"),
  /** On ZooKeeper. */
  CURATOR("Curator"),
  /** By plain JDBC. */
  POSTGRESQL("PostgreSQL"),
  /** On etcd. */
  JETCD("jetcd"),
  /** Its registry on Redis. */
  SPRING_INTEGRATION_REDIS("Spring Integration, Redis"),
  /** Its registry on PostgreSQL. */
  SPRING_INTEGRATION_JDBC("Spring Integration, JDBC"),
  /** On Redis. */
  SHED_LOCK_REDIS("ShedLock, Redis"),
  /** On PostgreSQL. */
  SHED_LOCK_JDBC("ShedLock, JDBC");

  private final String title;

  Peer(String title) {
    this.title = title;
  }

  /** What people call it. */
  String title() {
    return title;
  }

  /**
   * Starts a server of its own.
   *
   * @param line of RabbitMQ; null for the newest there is
   * @throws NotInstalledException if it is not on this machine
   */
  PeerServer start(@Nullable String line) throws Exception {
    return switch (this) {
      case AMQP_LOCKS -> AmqpLocksPeer.start(line);
      case REDISSON, SPRING_INTEGRATION_REDIS, SHED_LOCK_REDIS -> RedisServer.start();
      case CURATOR -> CuratorPeer.start();
      case POSTGRESQL -> PostgresqlServer.start();
      case SPRING_INTEGRATION_JDBC -> PostgresqlServer.start(SpringIntegrationPeer.TABLE);
      case SHED_LOCK_JDBC -> PostgresqlServer.start(ShedLockPeer.TABLE);
      case JETCD -> JetcdPeer.start();
    };
  }

  /** Another client, of the server that has this address. */
  PeerClient connect(String address) throws Exception {
    return switch (this) {
      case AMQP_LOCKS -> AmqpLocksPeer.connect(address);
      case REDISSON -> RedissonPeer.connect(address);
      case CURATOR -> CuratorPeer.connect(address);
      case POSTGRESQL -> PostgresqlPeer.connect(address);
      case JETCD -> JetcdPeer.connect(address);
      case SPRING_INTEGRATION_REDIS -> SpringIntegrationPeer.redis(address);
      case SPRING_INTEGRATION_JDBC -> SpringIntegrationPeer.jdbc(address);
      case SHED_LOCK_REDIS -> ShedLockPeer.redis(address);
      case SHED_LOCK_JDBC -> ShedLockPeer.jdbc(address);
    };
  }
}
