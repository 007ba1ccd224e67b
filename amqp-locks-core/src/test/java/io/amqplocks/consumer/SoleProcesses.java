package io.amqplocks.consumer;

import static org.awaitility.Awaitility.await;

import io.amqplocks.support.SoleConsumerMain;
import io.amqplocks.test.Broker;
import io.amqplocks.test.ChildJvm;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.LongSummaryStatistics;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;

/**
 * Processes that consume a queue of numbers in turn, and what they said. One thread starts them;
 * others may ask what was handled.
 */
final class SoleProcesses implements AutoCloseable {

  /** For whatever a process has to do; see {@code TakeoverClusterTest} for what takes longest. */
  static final Duration START = Duration.ofMinutes(3);

  /** Of the processes, in seconds. */
  static final int HEARTBEAT = 4;

  private final String prefix;
  private final String queue;
  private final String lock;
  private final @Nullable String ingress;
  private final int heartbeat;
  private final List<ChildJvm> processes = new CopyOnWriteArrayList<>();

  /**
   * The lock and the ingress exchange are as {@link SoleConsumerMain} takes them, with the usual
   * heartbeat.
   */
  SoleProcesses(String prefix, String queue, String lock, @Nullable String ingress) {
    this(prefix, queue, lock, ingress, HEARTBEAT);
  }

  /** The same, with a heartbeat of so many seconds. */
  SoleProcesses(String prefix, String queue, String lock, @Nullable String ingress, int heartbeat) {
    this.prefix = prefix;
    this.queue = queue;
    this.lock = lock;
    this.ingress = ingress;
    this.heartbeat = heartbeat;
  }

  /** Starts one that connects to that broker, and returns when it contends. */
  ChildJvm start(Broker broker) {
    List<String> arguments =
        new ArrayList<>(List.of(broker.uri(), prefix, queue, Integer.toString(heartbeat), lock));
    if (ingress != null) {
      arguments.add(ingress);
    }
    ChildJvm process =
        ChildJvm.of(SoleConsumerMain.class).args(arguments.toArray(String[]::new)).start();
    processes.add(process);
    process.awaitLine("STARTED", START);
    return process;
  }

  /** A span in which a process was certain at every look; see {@link SoleConsumerMain}. */
  record Certain(int process, long from, long to) {}

  /** Two such spans of different processes, of which the second began before the first ended. */
  record Together(Certain one, Certain other) {
    long nanos() {
      return Math.min(one.to(), other.to()) - other.from();
    }
  }

  /** A message, and whether the process was certain to be the active one when it ended with it. */
  record Handled(int process, int number, long begin, long end, boolean active) {}

  /** Whether that one says, as its last word, that it is the active one. */
  static boolean isActive(ChildJvm process) {
    String last = "";
    for (String line : process.lines()) {
      last = line.startsWith("ACTIVE") || line.startsWith("PASSIVE") ? line : last;
    }
    return process.isAlive() && last.startsWith("ACTIVE");
  }

  /** How many terms of that one have ended. */
  static long ended(ChildJvm process) {
    return process.lines().stream().filter(line -> line.startsWith("PASSIVE")).count();
  }

  /** How many messages that one has handled since its last term began, or a few less. */
  static long handledInTerm(ChildJvm process) {
    List<String> lines = process.lines();
    return lines.subList(Math.max(0, lines.lastIndexOf("ACTIVE")), lines.size()).stream()
        .filter(line -> line.startsWith("HANDLED "))
        .count();
  }

  /** The first that says that it is active, as soon as one does. */
  ChildJvm active() {
    return await()
        .atMost(START)
        .pollInterval(Duration.ofMillis(20))
        .until(
            () -> processes.stream().filter(SoleProcesses::isActive).findFirst(),
            Optional::isPresent)
        .orElseThrow();
  }

  /** Returns when another one than that is active. */
  void awaitAnother(ChildJvm active) {
    await()
        .atMost(START)
        .until(() -> processes.stream().anyMatch(each -> each != active && isActive(each)));
  }

  List<Handled> handled() {
    return said("HANDLED ", SoleProcesses::handled);
  }

  private static Handled handled(String[] part) {
    return new Handled(
        Integer.parseInt(part[0]),
        Integer.parseInt(part[1]),
        Long.parseLong(part[2]),
        Long.parseLong(part[3]),
        Boolean.parseBoolean(part[4]));
  }

  /** What a process handled in one term, and whether it handed over at its end. */
  private record Term(int process, List<Handled> handled, boolean handedOver) {
    long begin() {
      return handled.get(0).begin();
    }

    /** From its first to its last message of those at which it was certain. */
    Optional<Certain> certain() {
      LongSummaryStatistics times =
          handled.stream()
              .filter(Handled::active)
              .flatMapToLong(each -> LongStream.of(each.begin(), each.end()))
              .summaryStatistics();
      return times.getCount() == 0
          ? Optional.empty()
          : Optional.of(new Certain(process, times.getMin(), times.getMax()));
    }
  }

  /** In the order in which they began. Terms without a message are left out. */
  private List<Term> terms() {
    List<Term> result = new ArrayList<>();
    for (int i = 0; i < processes.size(); i++) {
      List<Handled> handled = new ArrayList<>();
      for (String line : processes.get(i).lines()) {
        if (line.startsWith("HANDLED ")) {
          handled.add(handled(parts(i, line)));
        } else if (line.startsWith("PASSIVE")) {
          // It says so when it has ended with its last message.
          result.add(new Term(i, handled, line.startsWith("PASSIVE YIELDED")));
          handled = new ArrayList<>();
        }
      }
      result.add(new Term(i, handled, false));
    }
    return result.stream()
        .filter(term -> !term.handled().isEmpty())
        .sorted(Comparator.comparingLong(Term::begin))
        .toList();
  }

  /** Messages at which a process was not certain any more, but for the first one of each term. */
  List<Handled> handledInDoubt() {
    return terms().stream()
        .flatMap(term -> term.handled().stream().filter(each -> !each.active()).skip(1))
        .toList();
  }

  /** Messages that were handled again in a later term, though the process had handed over. */
  List<Handled> handledAfterHandOver() {
    Set<Integer> before = new HashSet<>();
    List<Handled> result = new ArrayList<>();
    for (Term term : terms()) {
      term.handled().stream().filter(each -> before.contains(each.number())).forEach(result::add);
      if (term.handedOver()) {
        term.handled().forEach(each -> before.add(each.number()));
      }
    }
    return result;
  }

  /**
   * Numbers that a process handled again, though it knew their ids. It need not know the one that
   * was in hand when it lost a term. That is the last one that it handled before it said so, or the
   * first one after that.
   */
  List<String> handledAgain() {
    List<String> result = new ArrayList<>();
    for (ChildJvm process : processes) {
      Set<String> known = new HashSet<>();
      String last = "";
      boolean mayHaveBeenInHand = false;
      for (String line : process.lines()) {
        if (line.startsWith("HANDLED ")) {
          last = line.split(" ", -1)[1];
          if (!known.add(last)) {
            result.add("process " + process.pid() + ": " + last);
          }
          if (mayHaveBeenInHand) {
            known.remove(last);
          }
          mayHaveBeenInHand = false;
        } else if (line.startsWith("PASSIVE") && !line.startsWith("PASSIVE YIELDED")) {
          known.remove(last);
          mayHaveBeenInHand = true;
        }
      }
    }
    return result;
  }

  List<Certain> certain() {
    return said(
        "CERTAIN ",
        part ->
            new Certain(
                Integer.parseInt(part[0]), Long.parseLong(part[1]), Long.parseLong(part[2])));
  }

  /** The lines that begin so, with the process's number in place of that word. */
  private <T> List<T> said(String word, Function<String[], T> read) {
    List<T> result = new ArrayList<>();
    for (int i = 0; i < processes.size(); i++) {
      for (String line : processes.get(i).lines()) {
        if (line.startsWith(word)) {
          result.add(read.apply(parts(i, line)));
        }
      }
    }
    return result;
  }

  private static String[] parts(int process, String line) {
    String[] result = line.split(" ", -1);
    result[0] = Integer.toString(process);
    return result;
  }

  /** The numbers that were handled before, once for each time. */
  IntStream handledTwice() {
    Set<Integer> before = new HashSet<>();
    return handled().stream().mapToInt(Handled::number).filter(number -> !before.add(number));
  }

  /** How many different numbers were handled. */
  long numbers() {
    return handled().stream().mapToInt(Handled::number).distinct().count();
  }

  /** Which of the numbers below that no process has handled. */
  Set<Integer> unhandled(int messages) {
    Set<Integer> left = new HashSet<>(IntStream.range(0, messages).boxed().toList());
    handled().forEach(each -> left.remove(each.number()));
    return left;
  }

  /** For someone who looks for a reason: what each that is alive said last about its terms. */
  String lastSaid() {
    return processes.stream()
        .filter(ChildJvm::isAlive)
        .map(
            process -> {
              List<String> lines =
                  process.lines().stream()
                      .filter(line -> !line.startsWith("HANDLED ") && !line.startsWith("CERTAIN "))
                      .toList();
              return process.pid()
                  + ": "
                  + lines.subList(Math.max(0, lines.size() - 3), lines.size());
            })
        .collect(Collectors.joining("\n", "", "\n"));
  }

  /** Spans in which two processes were certain, whether or not messages were there. */
  List<Together> together() {
    return together(certain());
  }

  /** The same of terms, each from its first to its last message that was handled with certainty. */
  List<Together> termsTogether() {
    return together(terms().stream().flatMap(term -> term.certain().stream()).toList());
  }

  private static List<Together> together(List<Certain> unordered) {
    List<Certain> spans =
        unordered.stream().sorted(Comparator.comparingLong(Certain::from)).toList();
    List<Together> result = new ArrayList<>();
    Certain last = spans.get(0);
    for (Certain span : spans.subList(1, spans.size())) {
      if (span.process() != last.process() && span.from() < last.to()) {
        result.add(new Together(last, span));
      }
      last = span.to() > last.to() ? span : last;
    }
    return result;
  }

  /** Messages of two processes at the same time, both certain to be active when they ended. */
  List<String> handledTogether() {
    List<Handled> certain =
        handled().stream()
            .filter(Handled::active)
            .sorted(Comparator.comparingLong(Handled::begin))
            .toList();
    List<String> result = new ArrayList<>();
    for (int i = 1; i < certain.size(); i++) {
      Handled before = certain.get(i - 1);
      Handled after = certain.get(i);
      if (before.process() != after.process() && before.end() > after.begin()) {
        result.add(before + " and " + after);
      }
    }
    return result;
  }

  @Override
  public void close() {
    processes.forEach(ChildJvm::close);
  }
}
