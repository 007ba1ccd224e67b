package io.amqplocks.benchmarks.peers;

import com.rabbitmq.client.ConnectionFactory;
import io.etcd.jetcd.Client;
import java.sql.DriverManager;
import java.util.Collection;
import java.util.EnumMap;
import java.util.Map;
import org.apache.curator.framework.recipes.locks.InterProcessMutex;
import org.redisson.Redisson;

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
              }));
    }
    return versions;
  }
}
