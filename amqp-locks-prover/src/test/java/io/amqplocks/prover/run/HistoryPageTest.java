package io.amqplocks.prover.run;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.prover.driver.Command;
import io.amqplocks.prover.driver.Event;
import io.amqplocks.prover.driver.Event.What;
import io.amqplocks.prover.driver.Load;
import io.amqplocks.prover.driver.LockRef;
import io.amqplocks.prover.history.FaultSpan;
import io.amqplocks.prover.history.History;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

class HistoryPageTest {

  private static final LockRef LOCK = new LockRef(LockRef.Kind.READ_WRITE_LOCK, "r");

  private final History history = new History();

  private void holds(String client, long id, boolean reads, long from, long to) {
    history.told(client, Command.work(id, LOCK, new Load(1, false, reads, 0, 0, 0), 0));
    did(client, id, What.ACQUIRED, from);
    did(client, id, What.RELEASES, to);
    did(client, id, What.RELEASED, to + 1);
  }

  private void did(String client, long id, What what, long millis) {
    long at = TimeUnit.MILLISECONDS.toNanos(millis);
    history.did(client, new Event(id, 1, what, at, at, 1, 0, null));
  }

  @Test
  void readersAndWritersHaveLanesAndColoursOfTheirOwn() {
    holds("client-1", 2, true, 10, 50);
    holds("client-1", 3, true, 20, 40);
    holds("client-2", 2, false, 60, 70);
    history.suffered("client-2", new FaultSpan("harm", 0, 1));
    Plan plan =
        new Plan(
            1,
            2,
            List.of(new Plan.Slots(LOCK, 1)),
            List.of(),
            List.of(),
            List.of(),
            Duration.ofSeconds(1));
    String page = HistoryPage.of(plan, "--round 1", history, List.of());
    assertThat(page)
        .contains("readers or a writer, 3 leases", "<code>bin/prove --round 1</code>")
        .contains(">reads, client-1 #002<", ">reads, client-1 #003<", ">writes, client-2 #002<");
    assertThat(page.split("class=\"certain\"", -1)).hasSize(3);
    assertThat(page.split("class=\"certain writes\"", -1)).hasSize(2);
    assertThat(page.split("class=\"fault\"", -1)).as("of client-2 only").hasSize(2);
  }
}
