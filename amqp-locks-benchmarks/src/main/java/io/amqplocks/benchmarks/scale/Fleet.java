package io.amqplocks.benchmarks.scale;

import io.amqplocks.test.ChildJvm;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.IntFunction;

/** Clients in a few processes. For one thread. */
final class Fleet implements AutoCloseable {

  private static final int PROCESSES = 4;
  private static final Duration PATIENCE = Duration.ofMinutes(2);

  /**
   * What all of them said.
   *
   * @param since when each that holds its lock has held it, in order, by the machine's clock
   * @param errors how many calls ended otherwise
   */
  record Held(List<Long> since, int errors) {}

  private final List<ChildJvm> processes = new ArrayList<>();
  private int clients;

  Fleet(String uri, String prefix) {
    for (int i = 0; i < PROCESSES; i++) {
      processes.add(
          ChildJvm.of(ClientsMain.class)
              .args(uri, prefix, "own-" + i + "-")
              .jvmArgs("-Xmx768m", "-Xss256k")
              .start());
    }
  }

  /** There are so many clients then; those that are too many are closed. */
  void connect(int count) {
    clients = count;
    List<String> unused =
        ask(i -> "connect " + (count / PROCESSES + (i < count % PROCESSES ? 1 : 0)));
  }

  /** Each holds a lock of its own when this returns. */
  void hold() throws InterruptedException {
    List<String> unused = ask(i -> "hold");
    requireHeld(clients);
  }

  /** All of them want that lock from now on; one has it when this returns. */
  void contend(String name) throws InterruptedException {
    List<String> unused = ask(i -> "contend " + name);
    requireHeld(1);
  }

  /** Nobody holds or wants anything when this returns. */
  void release() {
    List<String> unused = ask(i -> "release");
  }

  /** What was before is not counted any more. */
  void forget() {
    List<String> unused = ask(i -> "forget");
  }

  private void requireHeld(int count) throws InterruptedException {
    Held held = awaitHeld(count, PATIENCE);
    if (held.since().size() < count) {
      throw new IllegalStateException(
          "Only %d of %d clients hold after %s, with %d errors"
              .formatted(held.since().size(), count, PATIENCE, held.errors()));
    }
  }

  /** Returns when so many have held their lock since they were to forget, or the time is over. */
  Held awaitHeld(int count, Duration patience) throws InterruptedException {
    long end = System.nanoTime() + patience.toNanos();
    Held held = held();
    while (held.since().size() < count && end - System.nanoTime() > 0) {
      TimeUnit.MILLISECONDS.sleep(200);
      held = held();
    }
    return held;
  }

  private Held held() {
    int errors = 0;
    List<Long> since = new ArrayList<>();
    for (String answer : ask(i -> "held")) {
      String[] numbers = answer.split(" ", -1);
      errors += Integer.parseInt(numbers[1]);
      for (int i = 2; i < numbers.length; i++) {
        since.add(Long.parseLong(numbers[i]));
      }
    }
    since.sort(null);
    return new Held(since, errors);
  }

  private List<String> ask(IntFunction<String> command) {
    for (int i = 0; i < processes.size(); i++) {
      processes.get(i).send(command.apply(i));
    }
    return processes.stream()
        .map(process -> process.awaitLine(ClientsMain.DONE, PATIENCE))
        .toList();
  }

  @Override
  public void close() {
    processes.forEach(ChildJvm::close);
  }
}
