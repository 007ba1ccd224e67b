package io.amqplocks.prover.history;

import io.amqplocks.prover.driver.Command;
import io.amqplocks.prover.driver.Event;
import io.amqplocks.prover.driver.Lines;
import io.amqplocks.prover.driver.LockRef;
import java.io.BufferedWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Stream;

/**
 * What all clients of one run did.
 *
 * <p>Concurrency: any number of threads add to it. The entries of one client are added by one
 * thread in the order in which the client wrote them.
 */
public final class History {

  private final List<Entry> entries = new ArrayList<>();

  /** An empty history. */
  public History() {}

  /** Reads a history that {@link #writeTo} wrote. */
  public static History readFrom(Path file) throws IOException {
    History result = new History();
    try (Stream<String> lines = Files.lines(file)) {
      lines.map(line -> Lines.read(line, Entry.class)).forEachOrdered(result::add);
    }
    return result;
  }

  /** Writes one line of JSON for each entry. */
  public void writeTo(Path file) throws IOException {
    try (BufferedWriter out = Files.newBufferedWriter(file)) {
      for (Entry entry : entries()) {
        out.write(Lines.write(entry));
        out.newLine();
      }
    }
  }

  /** Adds an entry. */
  public synchronized void add(Entry entry) {
    entries.add(entry);
  }

  /** A client was told to do that. */
  public void told(String client, Command command) {
    add(new Entry(client, command, null, null, null));
  }

  /** A client did that. */
  public void did(String client, Event event) {
    add(new Entry(client, null, event, null, null));
  }

  /** That was done to the broker. */
  public void suffered(FaultSpan fault) {
    add(new Entry(null, null, null, fault, null));
  }

  /** That was done to a client. */
  public void suffered(String client, FaultSpan fault) {
    add(new Entry(client, null, null, fault, null));
  }

  /** A guarded row took that. The writes of one row come in the order in which it took them. */
  public void took(Stored stored) {
    add(new Entry(null, null, null, null, stored));
  }

  /** What the guarded rows of that lock took. */
  public List<Stored> stored(LockRef lock) {
    return entries().stream()
        .flatMap(entry -> Stream.ofNullable(entry.stored()))
        .filter(each -> each.lock().equals(lock.name()))
        .toList();
  }

  /** All entries so far. */
  public synchronized List<Entry> entries() {
    return List.copyOf(entries);
  }

  /** All commands that clients were given, with the clients. */
  public List<Told> commands() {
    return entries().stream()
        .filter(entry -> entry.command() != null && entry.client() != null)
        .map(
            entry ->
                new Told(
                    Objects.requireNonNull(entry.client()),
                    Objects.requireNonNull(entry.command())))
        .toList();
  }

  /**
   * A command and who was given it.
   *
   * @param client the client
   * @param command the command
   */
  public record Told(String client, Command command) {}

  /** How a command ended; empty if its client never said. */
  public Optional<Event> outcome(Told told) {
    return entries().stream()
        .filter(entry -> told.client().equals(entry.client()))
        .map(Entry::event)
        .filter(Objects::nonNull)
        .filter(event -> event.id() == told.command().id())
        .filter(event -> event.what().isEnd())
        .findFirst();
  }

  /** All leases, in the order in which they were acquired. */
  public List<Claim> claims() {
    Map<List<Object>, Told> work = new LinkedHashMap<>();
    Map<List<Object>, ClaimBuilder> builders = new LinkedHashMap<>();
    for (Entry entry : entries()) {
      String client = entry.client();
      Command command = entry.command();
      Event event = entry.event();
      if (client != null && command != null) {
        work.put(List.of(client, command.id()), new Told(client, command));
      }
      if (client != null && event != null && event.cycle() > 0) {
        Told told = work.get(List.of(client, event.id()));
        if (told == null || told.command().lock() == null) {
          throw new IllegalStateException(
              "%s reports on command %d, which it was never given".formatted(client, event.id()));
        }
        LockRef lock = told.command().lock();
        builders
            .computeIfAbsent(
                List.of(client, event.id(), event.cycle()),
                key -> new ClaimBuilder(client, lock, told.command()))
            .add(event);
      }
    }
    return builders.values().stream()
        .flatMap(builder -> builder.build().stream())
        .sorted(java.util.Comparator.comparingLong(Claim::acquired))
        .toList();
  }
}
