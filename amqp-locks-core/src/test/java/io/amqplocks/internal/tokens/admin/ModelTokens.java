package io.amqplocks.internal.tokens.admin;

import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.internal.tokens.TokenContent;
import io.amqplocks.internal.tokens.TokenRecord;
import io.amqplocks.internal.tokens.admin.UnackedMessages.Message;
import io.amqplocks.lock.LockException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeMap;

/** A broker in memory on which the administrator dies after so many effects. */
final class ModelTokens implements TokenBroker {

  /** The administrator died. */
  static final class Crash extends RuntimeException {
    private static final long serialVersionUID = 1L;
  }

  private final Map<Integer, List<String>> queues = new TreeMap<>();
  private final Set<Integer> everMade = new HashSet<>();
  private final List<Message> received = new ArrayList<>();
  private final Set<Message> sentAgain = new HashSet<>();
  private final List<String> held = new ArrayList<>();
  private final List<TokenRecord> ledger = new ArrayList<>();
  private final List<TokenRecord> copies = new ArrayList<>();
  private final Map<String, Long> returns = new HashMap<>();
  private long lastTag;
  private boolean enlisted;
  private int takenFrom;
  int effectsLeft = Integer.MAX_VALUE;
  int most;
  int major = 4;
  long minutes = 29_000_000;
  boolean plain;
  boolean trialFails;
  boolean putsBackAtTheSecondLook;

  private void effect() {
    if (effectsLeft-- == 0) {
      received.forEach(message -> putBack(message.text()));
      received.clear();
      throw new Crash();
    }
  }

  private void putBack(String text) {
    returns.merge(text, 1L, Long::sum);
    if (queues.containsKey(takenFrom)) {
      queues.get(takenFrom).add(text);
    }
  }

  /** The queue puts back by itself what was received, as when its nodes lose each other. */
  void putBackUnasked() {
    received.forEach(message -> putBack(message.text()));
    sentAgain.addAll(received);
    received.clear();
  }

  /** Holders take so many tokens. */
  void hold(int number) {
    List<String> idle = queues.getOrDefault(known().generation(), new ArrayList<>());
    while (held.size() < number && !idle.isEmpty()) {
      held.add(idle.remove(0));
    }
  }

  /** And give all back. */
  void release() {
    held.forEach(text -> returns.merge(text, 1L, Long::sum));
    if (queues.containsKey(known().generation())) {
      queues.get(known().generation()).addAll(held);
    }
    held.clear();
  }

  /** A stranger does something to the queue. */
  List<String> idleTokens() {
    return queues.getOrDefault(known().generation(), List.of());
  }

  /** How many can be held at once by all who may know of the queue they are in. */
  int usable() {
    int usable = held.size() + received.size();
    for (Map.Entry<Integer, List<String>> queue : queues.entrySet()) {
      usable += queue.getKey() <= known().generation() ? queue.getValue().size() : 0;
    }
    return usable;
  }

  int queueCount() {
    return queues.size();
  }

  private List<String> queue(int generation) {
    return Objects.requireNonNull(queues.get(generation));
  }

  private void note() {
    most = Math.max(most, usable());
  }

  /** The record that counts, or will as soon as somebody looks. */
  TokenRecord known() {
    return newest(ledger);
  }

  private static TokenRecord newest(List<TokenRecord> versions) {
    return versions.stream()
        .max(Comparator.comparingLong(TokenRecord::version))
        .orElse(TokenRecord.BLANK);
  }

  @Override
  public TokenRecord record() {
    if (newest(copies).version() < known().version()) {
      write(copies, known());
    }
    return known();
  }

  @Override
  public void write(TokenRecord next) {
    if (next.version() <= known().version()) {
      throw new AssertionError("after " + known() + " came " + next);
    }
    TokenRecord read = TokenRecord.parse(next.toString()).orElseThrow();
    write(ledger, read);
    write(copies, read);
  }

  /** As the real ledger: the new version is published, then each of the old ones removed. */
  private void write(List<TokenRecord> versions, TokenRecord next) {
    effect();
    versions.add(next);
    note();
    while (versions.size() > 1) {
      effect();
      versions.remove(0);
    }
  }

  @Override
  public void enlist() {
    effect();
    enlisted = true;
  }

  boolean isEnlisted() {
    return enlisted;
  }

  /** A sweep found no semaphore. */
  void strike() {
    enlisted = false;
  }

  /** As the real ledger: what all read goes first. */
  @Override
  public void forget() {
    effect();
    copies.clear();
    effect();
    ledger.clear();
  }

  /** Whether anything is remembered of the semaphore. */
  boolean isRemembered() {
    return !ledger.isEmpty() || !copies.isEmpty();
  }

  @Override
  public int brokerMajor() {
    return major;
  }

  @Override
  public void tryOut(TokenQueueType type) {
    if (trialFails) {
      throw new LockException.FenceUnavailable("A policy drops messages");
    }
  }

  @Override
  public OptionalInt idle(int generation) {
    return queues.containsKey(generation)
        ? OptionalInt.of(queues.get(generation).size())
        : OptionalInt.empty();
  }

  @Override
  public void make(int generation, TokenQueueType type) {
    effect();
    if (!everMade.add(generation) && !plain) {
      throw new AssertionError("generation " + generation + " made twice");
    }
    if (!enlisted) {
      throw new AssertionError("no sweep would find generation " + generation);
    }
    queues.put(generation, new ArrayList<>());
  }

  @Override
  public void publish(int generation, List<TokenContent> tokens) {
    for (TokenContent token : tokens) {
      effect();
      queue(generation).add(token.toString());
      note();
    }
  }

  @Override
  public void delete(int generation) {
    effect();
    if (queues.remove(generation) != null && generation == known().generation()) {
      held.clear();
    }
    if (generation == takenFrom) {
      received.clear();
    }
  }

  @Override
  public Unacked unacked(TokenRecord record) {
    int generation = record.generation();
    takenFrom = generation;
    return new Unacked() {
      @Override
      public List<Message> take(int number) {
        List<String> idle = queue(generation);
        List<Message> taken = new ArrayList<>();
        while (taken.size() < number && !idle.isEmpty()) {
          String text = idle.remove(0);
          taken.add(new Message(++lastTag, text, returns.getOrDefault(text, 0L)));
        }
        received.addAll(taken);
        return taken;
      }

      @Override
      public void remove(Collection<Message> messages) {
        for (Message message : messages) {
          effect();
          if (!received.remove(message) && !sentAgain.remove(message)) {
            throw new AssertionError("406 PRECONDITION_FAILED - unknown delivery tag: " + message);
          }
        }
      }

      @Override
      public List<Message> again() {
        close();
        List<Message> again = new ArrayList<>(take(Integer.MAX_VALUE));
        if (putsBackAtTheSecondLook) {
          putBackUnasked();
          again.addAll(take(Integer.MAX_VALUE));
        }
        return again;
      }

      @Override
      public void close() {
        received.forEach(message -> putBack(message.text()));
        received.clear();
      }
    };
  }
}
