package io.amqplocks.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Whom a keeper kills, and whom not. */
class KeeperTest {

  private static final int SURELY_SECONDS = 60;

  /** How long a process that was killed may take to end. */
  private static final int DYING_SECONDS = 1;

  private Process process;

  @BeforeEach
  void start() throws IOException {
    assumeThat(Path.of("/proc/self/stat")).exists();
    process = new ProcessBuilder("sleep", "600").start();
  }

  @AfterEach
  void kill() {
    if (process != null) {
      process.destroyForcibly();
    }
  }

  @Test
  void theBrokerIsEnded() throws Exception {
    NodeFolder folder = folder();
    Keeper keeper = Keeper.ofBroker(folder);
    folder.pid(process.pid());

    keeper.finish();

    assertThat(process.waitFor(SURELY_SECONDS, TimeUnit.SECONDS)).isTrue();
    assertThat(folder.path()).doesNotExist();
  }

  @Test
  void aStrangerWithTheIdOfABrokerThatEndedByItselfIsLeftAlone() throws Exception {
    NodeFolder folder = folder();
    Keeper keeper = Keeper.ofBroker(folder);
    Files.writeString(folder.path().resolve("pid"), process.pid() + " " + before(process));

    keeper.finish();

    assertThat(process.waitFor(DYING_SECONDS, TimeUnit.SECONDS)).isFalse();
    assertThat(folder.path()).doesNotExist();
  }

  /** There was no such broker any more when its start was to be noted. */
  @Test
  void aStrangerIsLeftAloneIfNobodyKnowsWhenTheBrokerStarted() throws Exception {
    NodeFolder folder = folder();
    Keeper keeper = Keeper.ofBroker(folder);
    Files.writeString(folder.path().resolve("pid"), process.pid() + " ");

    keeper.finish();

    assertThat(process.waitFor(DYING_SECONDS, TimeUnit.SECONDS)).isFalse();
  }

  @Test
  void aStoppedChildIsEnded() throws Exception {
    Keeper keeper = Keeper.ofChild(process.pid());
    Signals.send(process.pid(), "STOP");

    keeper.finish();

    assertThat(process.waitFor(SURELY_SECONDS, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void afterTheEndOfAChildNobodyIsKilled() throws Exception {
    Keeper keeper = Keeper.ofChild(process.pid());

    keeper.childEnded();

    assertThat(process.waitFor(DYING_SECONDS, TimeUnit.SECONDS)).isFalse();
  }

  /** The moment of an earlier start, as if the process had its id from that one. */
  private static long before(Process process) {
    return Long.parseLong(ProcessStart.of(process.pid())) - 1;
  }

  /** Of a broker that has no {@code epmd}. */
  private static NodeFolder folder() {
    Installation none = new Installation(new BrokerVersion(9, 9, 9), Path.of("none"), null);
    NodePlace place = NodePlace.alone(none);
    return NodeFolder.create(
        new NodePlace(
            none,
            List.of("true"),
            place.host(),
            place.nodeHost(),
            place.nodeName(),
            place.amqpPort(),
            place.distributionPort(),
            place.epmdPort(),
            null,
            ""));
  }
}
