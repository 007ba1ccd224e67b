package io.amqplocks.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ChildJvmTest {

  private static final Duration SOON = Duration.ofMinutes(3);
  private static final int MUCH = 20_000;
  private static final int BURST = 4_000;

  /**
   * Says each line again; "exit N", "throw" and "much" end it, "child" starts a child of its own,
   * "stopped child" one that it stops.
   */
  static final class Echo {

    public static void main(String[] args) throws IOException {
      System.out.println("args " + String.join(",", args));
      System.out.println("env " + System.getenv("COLOUR"));
      System.out.println("property " + System.getProperty("size"));
      BufferedReader input =
          new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
      for (String line = input.readLine(); line != null; line = input.readLine()) {
        if (line.startsWith("exit ")) {
          System.exit(Integer.parseInt(line.substring(5)));
        } else if (line.equals("much")) {
          IntStream.rangeClosed(1, MUCH).forEach(number -> System.out.println("much " + number));
          System.exit(0);
        } else if (line.startsWith("burst ")) {
          // Less than a pipe takes, so that it does not wait for a reader.
          IntStream.range(0, BURST).forEach(number -> System.out.println("burst " + number));
          Files.createFile(Path.of(line.substring(6)));
        } else if (line.equals("throw")) {
          throw new IllegalStateException("as told");
        } else if (line.equals("child")) {
          System.out.println("child " + ChildJvm.of(Echo.class).start().pid());
        } else if (line.equals("stopped child")) {
          ChildJvm child = ChildJvm.of(Echo.class).start();
          child.awaitLine("property", SOON);
          child.stop();
          System.out.println("child " + child.pid());
        } else {
          System.out.println("echo " + line);
        }
      }
    }
  }

  @Test
  void runsAProgramAndTalksWithIt() {
    try (ChildJvm child =
        ChildJvm.of(Echo.class)
            .args("one", "two words")
            .env("COLOUR", "blue")
            .systemProperty("size", "7")
            .jvmArgs("-Xmx64m")
            .start()) {
      assertThat(child.awaitLine("args ", SOON)).isEqualTo("args one,two words");
      assertThat(child.awaitLine("env ", SOON)).isEqualTo("env blue");
      assertThat(child.awaitLine("property ", SOON)).isEqualTo("property 7");
      child.send("first");
      child.send("second");
      assertThat(child.awaitLine("echo", SOON)).isEqualTo("echo first");
      assertThat(child.awaitLine("echo", SOON)).isEqualTo("echo second");
      assertThat(child.lines()).contains("echo first", "echo second");
      child.send("exit 3");
      assertThat(child.exitCode(SOON)).hasValue(3);
    }
  }

  /** Also if nobody had the time to read it before. */
  @Test
  void whatAKilledChildHasWrittenIsRead(@TempDir Path folder) throws Exception {
    Path written = folder.resolve("written");
    CountDownLatch slow = new CountDownLatch(1);
    CountDownLatch mayRead = new CountDownLatch(1);
    try (ChildJvm child = ChildJvm.of(Echo.class).start()) {
      child.awaitLine("property", SOON);
      // Nothing is read while a line is looked at.
      CompletableFuture<String> looking =
          CompletableFuture.supplyAsync(
              () ->
                  child.awaitLine(
                      line -> {
                        slow.countDown();
                        return awaits(mayRead);
                      },
                      SOON));
      child.send("burst " + written);
      assertThat(awaits(slow)).isTrue();
      await().atMost(SOON).until(() -> Files.exists(written));
      CompletableFuture<Void> killing = CompletableFuture.runAsync(child::killNow);
      await().atMost(SOON).until(() -> !child.isAlive());
      mayRead.countDown();
      killing.get(SOON.toSeconds(), TimeUnit.SECONDS);
      assertThat(looking.join()).startsWith("burst");
      assertThat(child.lines()).filteredOn(line -> line.startsWith("burst")).hasSize(BURST);
    }
  }

  private static boolean awaits(CountDownLatch latch) {
    try {
      return latch.await(SOON.toSeconds(), TimeUnit.SECONDS);
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }

  @Test
  void stoppedChildIsSilentUntilContinued() {
    try (ChildJvm child = ChildJvm.of(Echo.class).start()) {
      child.awaitLine("property", SOON);
      child.stop();
      child.send("hello");
      assertThatThrownBy(() -> child.awaitLine("echo", Duration.ofMillis(500)))
          .isInstanceOf(IllegalStateException.class);
      assertThat(child.isAlive()).isTrue();
      child.cont();
      assertThat(child.awaitLine("echo", SOON)).isEqualTo("echo hello");
      child.stop();
      child.killNow();
      assertThat(child.exitCode(SOON)).hasValue(128 + 9);
    }
  }

  @Test
  void anInterruptedThreadClosesItAsAnyOther() {
    ChildJvm child = ChildJvm.of(Echo.class).start();
    child.awaitLine("property", SOON);
    Thread.currentThread().interrupt();
    child.close();
    assertThat(Thread.interrupted()).isTrue();
    assertThat(child.isAlive()).isFalse();
    assertThat(child.exitCode(Duration.ZERO)).hasValue(128 + 9);
  }

  @Test
  void failureHasWhatTheChildWrote() {
    try (ChildJvm child = ChildJvm.of(Echo.class).start()) {
      child.send("throw");
      assertThatThrownBy(() -> child.awaitLine("never", SOON))
          .hasMessageContaining("args ")
          .hasMessageContaining("as told");
      assertThat(child.exitCode(SOON)).hasValue(1);
    }
  }

  @Test
  void afterItsEndAllThatItWroteIsThere() {
    try (ChildJvm child = ChildJvm.of(Echo.class).start()) {
      child.send("much");
      assertThat(child.exitCode(SOON)).hasValue(0);
      assertThat(child.lines()).endsWith("much " + MUCH);
    }
  }

  @Test
  void childDiesWithItsKilledParent() {
    try (ChildJvm parent = ChildJvm.of(Echo.class).start()) {
      parent.send("child");
      long pid = Long.parseLong(parent.awaitLine("child ", SOON).substring(6));
      parent.killNow();
      await()
          .atMost(SOON)
          .until(() -> ProcessHandle.of(pid).map(process -> !process.isAlive()).orElse(true));
    }
  }

  /** The end of its input does not reach a stopped process. */
  @Test
  void evenAStoppedChildDiesWithItsKilledParent() {
    try (ChildJvm parent = ChildJvm.of(Echo.class).start()) {
      parent.send("stopped child");
      long pid = Long.parseLong(parent.awaitLine("child ", SOON).substring(6));
      // The handle knows when its process started, and so takes no other one for it.
      ProcessHandle child = ProcessHandle.of(pid).orElseThrow();
      try {
        parent.killNow();
        await().atMost(Duration.ofMinutes(1)).until(() -> !child.isAlive());
      } finally {
        child.destroyForcibly();
      }
    }
  }
}
