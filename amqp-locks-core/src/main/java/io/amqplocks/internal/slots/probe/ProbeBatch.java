package io.amqplocks.internal.slots.probe;

import java.util.BitSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicReferenceArray;
import java.util.stream.IntStream;

/**
 * The answers to the probes of one batch, as a pure function of the returns and confirms so far.
 * Confirms may come singly or as "all up to".
 *
 * <p>Concurrency: the connection's reading thread writes. The caller's thread reads when all probes
 * are answered or its time is over. Each answer is a single atomic cell. So what the caller reads
 * is true, though perhaps not complete.
 */
final class ProbeBatch {

  private final List<String> queues;
  private final long firstSequence;
  private final Map<String, Integer> positions = new HashMap<>();
  private final AtomicReferenceArray<Presence> answers;
  private final BitSet confirmed = new BitSet();
  private final CompletableFuture<Boolean> answered = new CompletableFuture<>();
  private int open;

  /**
   * Creates a batch without answers.
   *
   * @param firstSequence the confirm number of the first queue's probe; the others follow it
   */
  ProbeBatch(List<String> queues, long firstSequence) {
    this.queues = queues;
    this.firstSequence = firstSequence;
    answers = new AtomicReferenceArray<>(queues.size());
    open = queues.size();
    for (int i = 0; i < queues.size(); i++) {
      positions.put(queues.get(i), i);
      answers.set(i, Presence.UNKNOWN);
    }
  }

  List<String> queues() {
    return queues;
  }

  CompletableFuture<Boolean> answered() {
    return answered;
  }

  /**
   * The broker returned a probe. If it has another reason than that there is no queue, the answer
   * is unknown, whatever follows.
   *
   * @param isUnroutable whether there is no queue
   * @param isLast whether nothing follows; else a confirm does, and adds nothing
   */
  void returned(String queue, boolean isUnroutable, boolean isLast) {
    Integer position = positions.get(queue);
    if (position == null) {
      return;
    }
    if (isUnroutable) {
      answers.set(position, Presence.ABSENT);
    }
    if (isLast || !isUnroutable) {
      settle(position, false);
    }
  }

  void confirmed(long sequence, boolean multiple, boolean ack) {
    int last = (int) (sequence - firstSequence);
    for (int i = multiple ? 0 : Math.max(0, last); i <= last && i < queues.size(); i++) {
      settle(i, ack);
    }
  }

  void failed(Throwable cause) {
    answered.completeExceptionally(cause);
  }

  List<Presence> results() {
    return IntStream.range(0, queues.size()).mapToObj(answers::get).toList();
  }

  private void settle(int position, boolean ack) {
    if (confirmed.get(position)) {
      return;
    }
    confirmed.set(position);
    if (ack) {
      answers.compareAndSet(position, Presence.UNKNOWN, Presence.PRESENT);
    }
    if (--open == 0) {
      answered.complete(true);
    }
  }
}
