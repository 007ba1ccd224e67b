package io.amqplocks.prover.driver;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.LockException;
import io.amqplocks.prover.driver.Event.What;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The client of this project behind the line protocol: commands on standard input, events on
 * standard output, as {@code docs/PROVER.md} says. Each command has a thread of its own, so a
 * client can wait for one lock while it holds another. The process ends with its input.
 */
public final class Driver {

  /** How long tokens in use may take to come back. No load holds one for longer. */
  private static final Duration WITHDRAWAL = Duration.ofSeconds(10);

  private final PrintStream out;
  private @Nullable AmqpLocks locks;
  private @Nullable ConnectionFactory factory;
  private String prefix = "";

  Driver(PrintStream out) {
    this.out = out;
  }

  /**
   * Reads commands until the input ends.
   *
   * @param args none
   */
  public static void main(String[] args) throws Exception {
    // Line by line, and in one piece: what was written stays after a kill.
    Driver driver =
        new Driver(
            new PrintStream(
                new java.io.FileOutputStream(java.io.FileDescriptor.out),
                false,
                StandardCharsets.UTF_8));
    ExecutorService threads = Executors.newCachedThreadPool();
    try (BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8))) {
      driver.read(in, threads);
    } finally {
      threads.shutdownNow();
      driver.close();
    }
  }

  private void read(BufferedReader in, ExecutorService threads) throws IOException {
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      Command command = Lines.read(line, Command.class);
      if (command.action() == Command.Action.CLOSE) {
        threads.shutdown();
        awaitEnd(threads);
        close();
        report(command, What.DONE, null);
        return;
      }
      threads.execute(() -> execute(command));
    }
  }

  private static void awaitEnd(ExecutorService threads) {
    try {
      boolean unused = threads.awaitTermination(1, TimeUnit.MINUTES);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void execute(Command command) {
    try {
      switch (command.action()) {
        case OPEN -> open(command);
        case CREATE -> create(command);
        case RESIZE -> resize(command);
        case WORK -> work(command);
        case CLOSE -> throw new IllegalStateException("Not here");
      }
      report(command, What.DONE, null);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    } catch (RuntimeException
        | Error
        | java.security.GeneralSecurityException
        | java.net.URISyntaxException e) {
      report(command, What.NOT_DONE, e.toString());
    }
  }

  private synchronized AmqpLocks locks() {
    AmqpLocks opened = locks;
    if (opened == null) {
      throw new IllegalStateException("The first command must be OPEN");
    }
    return opened;
  }

  private void open(Command command)
      throws java.security.GeneralSecurityException, java.net.URISyntaxException {
    ConnectionFactory connecting = new ConnectionFactory();
    connecting.setUri(required(command.uri(), "uri"));
    connecting.setRequestedHeartbeat(command.heartbeat());
    Duration heartbeat = Duration.ofSeconds(command.heartbeat());
    String names = required(command.prefix(), "prefix");
    AmqpLocks opened =
        AmqpLocks.builder(connecting)
            .heartbeat(heartbeat)
            .callTimeout(heartbeat)
            .queuePrefix(names)
            .connectionName("prover")
            .build();
    try {
      opened.connect();
    } catch (LockException e) {
      opened.close();
      throw e;
    }
    synchronized (this) {
      locks = opened;
      factory = connecting;
      prefix = names;
    }
  }

  private void work(Command command) throws InterruptedException {
    LockRef ref = required(command.lock(), "lock");
    AmqpLock lock = lock(command);
    if (ref.kind().consumes()) {
      consumerWorker(command, ref, lock).work();
    } else {
      new Worker(command, lock, this::write).work();
    }
  }

  private synchronized ConsumerWorker consumerWorker(Command command, LockRef ref, AmqpLock lock) {
    return new ConsumerWorker(
        command,
        lock,
        required(factory, "factory"),
        ConsumedQueue.of(prefix, ref),
        ref.kind() == LockRef.Kind.ACTIVE_QUEUE,
        this::write);
  }

  private void create(Command command) {
    CoreLocks.create(locks(), required(command.lock(), "lock"), command.slots());
  }

  private void resize(Command command) throws InterruptedException {
    CoreLocks.resize(locks(), required(command.lock(), "lock"), command.slots(), WITHDRAWAL);
  }

  private AmqpLock lock(Command command) {
    LockRef ref = required(command.lock(), "lock");
    AmqpLock lock = locks().lock(CoreLocks.id(ref, command.reads()));
    lock = command.fenced() && !ref.kind().isFenced() ? lock.fenced() : lock;
    return command.permits() > 1 ? lock.withPermits(command.permits()) : lock;
  }

  private static <T> T required(@Nullable T value, String name) {
    if (value == null) {
      throw new IllegalArgumentException("The command needs the field '" + name + "'");
    }
    return value;
  }

  private void report(Command command, What what, @Nullable String detail) {
    write(new Event(command.id(), 0, what, 0, System.nanoTime(), 0, 0, detail));
  }

  private synchronized void write(Event event) {
    out.print(Lines.write(event) + "\n");
    out.flush();
  }

  private void close() {
    AmqpLocks opened;
    synchronized (this) {
      opened = locks;
    }
    if (opened != null) {
      try {
        opened.close();
      } catch (LockException e) {
        System.err.println("Closing: " + e);
      }
    }
  }
}
