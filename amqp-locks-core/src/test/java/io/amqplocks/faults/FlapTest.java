package io.amqplocks.faults;

import java.time.Duration;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** On the newest line, where all metadata needs a majority. */
@Order(1) // of the longest
class FlapTest extends FlapContract {

  FlapTest() {
    super("4.3");
  }

  @Override
  boolean onMnesia() {
    return false;
  }

  /** A quorum queue gives up a holder that it misses after a minute. */
  @Tag("rare")
  @Test
  void afterALongBreakBetweenNodes() throws Exception {
    Duration span = Duration.ofSeconds(70);
    flap("A break", span, cluster()::breakOffFromPeers, name -> name.endsWith("-holder"));
  }
}
