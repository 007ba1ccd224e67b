package io.amqplocks.benchmarks;

import io.amqplocks.test.ChildJvm;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/**
 * A process of its own that wants a mutex; see {@link ContenderMain}.
 *
 * @param child the process
 */
record Contender(ChildJvm child) {

  private static final Duration START = Duration.ofMinutes(1);

  /** Starts so many; each is ready to go. */
  static List<Contender> start(Lab lab, String mutex, int processes, int threads) {
    List<Contender> contenders = new ArrayList<>();
    for (int i = 0; i < processes; i++) {
      ChildJvm child =
          ChildJvm.of(ContenderMain.class)
              .jvmArgs("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xmx128m")
              .args(lab.uri(), lab.prefix(), mutex, Integer.toString(threads))
              .start();
      contenders.add(new Contender(lab.closing(child)));
    }
    contenders.forEach(each -> each.child().awaitLine("ready", START));
    return contenders;
  }

  void begin(Duration time) {
    child.send(Long.toString(time.toMillis()));
  }

  /** What it achieved since {@link #begin}. */
  Contention end(Duration time) {
    String[] words = child.awaitLine("done ", time.plus(START)).split(" ", -1);
    return new Contention(Long.parseLong(words[1]), Long.parseLong(words[2]));
  }

  /** All of them at once. */
  static List<Contention> contend(List<Contender> contenders, Duration time) {
    contenders.forEach(each -> each.begin(time));
    return contenders.stream().map(each -> each.end(time)).toList();
  }
}
