package io.amqplocks.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LeaseState;
import java.time.Duration;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** On 3.10, whose metadata each side of a cut changes for itself. */
@Order(1) // of the longest
class MnesiaFlapTest extends FlapContract {

  MnesiaFlapTest() {
    super("3.10");
  }

  @Override
  boolean onMnesia() {
    return true;
  }

  /**
   * Longer than the minute after which nodes give each other up. To stop a server of such a cluster
   * hangs.
   */
  @Tag("rare")
  @Test
  void afterALongBreakBetweenNodes() throws Exception {
    Duration span = Duration.ofSeconds(70);
    lastFlap("A break", span, cluster()::breakOffFromPeers, changingAfter(70));
  }

  /**
   * Each side of a break declares a queue that is not there yet. A mutex's is gone a minute after
   * its last use. No client of either side can know.
   */
  @Test
  void aMutexThatNobodyUsedBeforeIsHeldOnBothSides() throws Exception {
    AmqpLocks first = connectedOn(1);
    AmqpLocks third = connectedOn(3);
    cluster().breakOffFromPeers(cluster().node(1));
    Duration wait = Duration.ofSeconds(30);
    try (Lease here = first.mutex("unused").acquire(wait);
        Lease there = third.mutex("unused").acquire(wait)) {
      assertThat(here.verify()).isEqualTo(LeaseState.HELD);
      assertThat(there.verify()).isEqualTo(LeaseState.HELD);
    }
  }

  /**
   * What classic mirrored queues do; they are no more from 4.0 on. Who got its token may have it
   * again before anybody else.
   */
  @Test
  void afterTheDeathOfAMirroredQueuesNode() throws Exception {
    String mirrored = "{\"ha-mode\":\"all\",\"ha-sync-mode\":\"automatic\"}";
    cluster().node(2).faults().setPolicy("mirrored", ".*", "queues", mirrored);
    watchClassicTokens(
        "The death of a mirrored queue's node",
        () -> cluster().node(1).faults().kill(),
        name -> name.endsWith("-pushed-queue"));
    rivalries().close();
    cluster().heal();
    rivalries().assertFree(name -> true);
  }
}
