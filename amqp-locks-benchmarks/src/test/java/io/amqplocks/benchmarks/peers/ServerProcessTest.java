package io.amqplocks.benchmarks.peers;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import io.amqplocks.test.ChildJvm;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

class ServerProcessTest {

  @Test
  void endsWithWhatItStored() throws Exception {
    ServerProcess.Folder folder = ServerProcess.folder("test");
    ServerProcess server =
        folder.start(
            "TERM", List.of("sh", "-c", "echo here >" + folder.path() + "/stored; sleep 100"));
    server.await(() -> Files.readString(folder.path().resolve("stored")));
    List<ProcessHandle> processes = server.processes().toList();
    assertThat(processes).isNotEmpty().allMatch(ProcessHandle::isAlive);
    server.close();
    assertThat(folder.path()).doesNotExist();
    server.close();
  }

  @Test
  void theTimeOfAProcessThatTheServerStartedCounts() throws Exception {
    ServerProcess.Folder folder = ServerProcess.folder("test");
    // The server sleeps, so any time is that of its child, which ends with the folder.
    String busy = "while [ -d " + folder.path() + " ]; do :; done";
    try (ServerProcess server =
        folder.start("TERM", List.of("sh", "-c", "(" + busy + ") & exec sleep 100"))) {
      PeerServer peer = new PeerServer("test 1.0", "", server);
      CpuTimes before = peer.cpu();
      await()
          .atMost(Duration.ofSeconds(30))
          .until(
              () -> peer.cpu().since(before),
              used -> used.filter(time -> time.toMillis() >= 200).isPresent());
    }
  }

  @Test
  void endsWithAKilledJvm() {
    try (ChildJvm jvm = ChildJvm.of(StarterMain.class).start()) {
      Path folder = Path.of(jvm.awaitLine("folder ", Duration.ofMinutes(3)).substring(7));
      assertThat(folder).exists();
      jvm.killNow();
      await().atMost(Duration.ofSeconds(30)).untilAsserted(() -> assertThat(folder).doesNotExist());
    }
  }

  @Test
  void saysWhyItDidNotStart() throws Exception {
    ServerProcess.Folder folder = ServerProcess.folder("test");
    ServerProcess server = folder.start("TERM", List.of("sh", "-c", "echo no such thing; exit 1"));
    assertThatThrownBy(() -> server.awaitPort(1)).hasMessageContaining("no such thing");
    assertThat(folder.path()).doesNotExist();
  }

  @Test
  void whatIsNotInstalledIsSaid() {
    assertThatThrownBy(() -> Installed.command("no-such-server"))
        .isInstanceOf(NotInstalledException.class)
        .hasMessageContaining("no-such-server is not installed");
  }
}
