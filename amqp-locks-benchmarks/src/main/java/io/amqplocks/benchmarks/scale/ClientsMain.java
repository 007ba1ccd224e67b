package io.amqplocks.benchmarks.scale;

import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.stream.Collectors;

/** A process with many clients, which do what it is told. */
final class ClientsMain {

  /** What each answer begins with. */
  static final String DONE = "done";

  private static final int AT_ONCE = 8;

  private final String uri;
  private final String prefix;
  private final String name;
  private final List<Client> clients = new ArrayList<>();
  private final ExecutorService pool = Executors.newFixedThreadPool(AT_ONCE);

  private ClientsMain(String uri, String prefix, String name) {
    this.uri = uri;
    this.prefix = prefix;
    this.name = name;
  }

  /**
   * Answers each command by a line that begins with {@link #DONE}.
   *
   * @param args the broker's URI, the prefix of the queues, the name of this process
   */
  public static void main(String[] args) throws Exception {
    ClientsMain process = new ClientsMain(args[0], args[1], args[2]);
    BufferedReader input =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = input.readLine(); line != null; line = input.readLine()) {
      System.out.println(DONE + process.answer(line.split(" ", -1)));
    }
    System.exit(0);
  }

  private String answer(String[] command) throws Exception {
    switch (command[0]) {
      case "connect" -> connect(Integer.parseInt(command[1]));
      case "hold" -> {
        for (int i = 0; i < clients.size(); i++) {
          clients.get(i).want(name + i);
        }
      }
      case "contend" -> clients.forEach(client -> client.want(command[1]));
      case "forget" -> clients.forEach(Client::forget);
      case "release" -> each(clients, Client::release);
      case "held" -> {
        return held();
      }
      default -> throw new IllegalArgumentException(command[0]);
    }
    return "";
  }

  /** There are so many then. */
  private void connect(int count) throws Exception {
    List<Callable<Client>> more = new ArrayList<>();
    for (int i = clients.size(); i < count; i++) {
      more.add(() -> new Client(uri, prefix));
    }
    for (Future<Client> each : pool.invokeAll(more)) {
      clients.add(each.get());
    }
    List<Client> surplus = clients.subList(count, clients.size());
    each(surplus, Client::close);
    surplus.clear();
  }

  private void each(List<Client> some, Task task) throws Exception {
    List<Callable<Boolean>> calls = new ArrayList<>();
    for (Client client : some) {
      calls.add(
          () -> {
            task.run(client);
            return true;
          });
    }
    for (Future<Boolean> each : pool.invokeAll(calls)) {
      boolean unused = each.get();
    }
  }

  /** The number of errors, and since when each has held its lock. */
  private String held() {
    int errors = clients.stream().mapToInt(Client::errors).sum();
    return clients.stream()
        .filter(client -> client.heldSince() > 0)
        .map(client -> " " + client.heldSince())
        .collect(Collectors.joining("", " " + errors, ""));
  }

  private interface Task {
    void run(Client client);
  }
}
