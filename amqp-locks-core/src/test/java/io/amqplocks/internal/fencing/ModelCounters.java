package io.amqplocks.internal.fencing;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.FenceCounter;
import io.amqplocks.internal.broker.MessageReading;
import io.amqplocks.internal.broker.QueueNames;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.LockId;
import java.util.HashSet;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * A broker in memory, on which a creator of counters dies before an effect or right after it: a
 * request that was not sent, and one whose answer came too late.
 *
 * <p>At each moment there are readers of every age: some look for the newest generation now, and
 * some still remember an older one. All draw what they can, and the numbers must rise.
 */
final class ModelCounters implements CounterBroker {

  /** The creator died. */
  static final class Crash extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  private static final class Counter {
    private @Nullable String content;
    private long returns;
  }

  private final QueueNames names = new QueueNames("p.");
  private final FenceCounter counter = FenceCounter.of(LockId.mutex("l"), 1);
  private final Map<String, Counter> counters = new TreeMap<>();
  private final Set<String> epochs = new TreeSet<>();
  private final Set<String> everMade = new HashSet<>();
  private final Set<Integer> everNewest = new TreeSet<>();
  private long lastNumber;
  int crashPoints = Integer.MAX_VALUE;
  boolean isBusy;

  private void crashPoint() {
    if (crashPoints-- == 0) {
      throw new Crash();
    }
  }

  private void effect(Runnable effect) {
    crashPoint();
    effect.run();
    drawByAll();
    crashPoint();
  }

  String counter(int generation) {
    return names.counter(counter, generation);
  }

  /** The generation that a reader would use now; 0 if there is none. */
  int newest() {
    int newest = 0;
    while (epochs.contains(names.epoch(counter, newest + 1))) {
      newest++;
    }
    return newest;
  }

  /** The counters that a reader could be led to now, or that could mislead a creator. */
  Set<String> counters() {
    return counters.keySet();
  }

  /** Whether somebody could draw a token now. */
  boolean isOpen() {
    Counter counter = counters.get(counter(newest()));
    return counter != null && counter.content != null;
  }

  private void drawByAll() {
    if (newest() > 0) {
      everNewest.add(newest());
    }
    everNewest.forEach(generation -> draw(counters.get(counter(generation))));
  }

  private void draw(@Nullable Counter from) {
    if (from != null && from.content != null) {
      CounterContent content = CounterContent.parse(from.content).orElseThrow();
      long number = new FencingToken(1, content.epoch(), from.returns++).number();
      assertThat(number).as("a token of " + from.content).isGreaterThan(lastNumber);
      lastNumber = number;
    }
  }

  /** The epoch in a counter, as a creator reads it; 0 if somebody draws from it just then. */
  long epoch(String counter) {
    Counter found = counters.get(counter);
    return found == null || found.content == null || isBusy
        ? 0
        : CounterContent.parse(found.content).orElseThrow().epoch();
  }

  /** The node of an epoch queue does not come back, or somebody deletes it. */
  void loseEpoch(int generation) {
    assertThat(epochs.remove(names.epoch(counter, generation))).isTrue();
  }

  @Override
  public int brokerMajor() {
    return 4;
  }

  @Override
  public boolean exists(Call call, String queue) {
    return counters.containsKey(queue) || epochs.contains(queue);
  }

  @Override
  public void declareEpoch(Call call, String queue) {
    effect(() -> epochs.add(queue));
  }

  @Override
  public void delete(Call call, String queue) {
    effect(() -> counters.remove(queue));
  }

  @Override
  public void make(Call call, String queue, String content) {
    Counter made = new Counter();
    effect(
        () -> {
          assertThat(everMade.add(queue)).as("%s is made for the first time", queue).isTrue();
          counters.put(queue, made);
        });
    effect(() -> made.content = content);
  }

  @Override
  public MessageReading read(Call call, String queue) {
    Counter counter = Objects.requireNonNull(counters.get(queue));
    return new MessageReading(
        MessageReading.Outcome.READ, String.valueOf(counter.content), counter.returns++, 0);
  }
}
