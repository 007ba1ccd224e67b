package io.amqplocks.prover.run;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.AmqpLock;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.Lease;
import io.amqplocks.prover.check.Violation;
import io.amqplocks.prover.check.Violation.Promise;
import io.amqplocks.prover.driver.Command;
import io.amqplocks.prover.driver.CoreLocks;
import io.amqplocks.prover.driver.Event;
import io.amqplocks.prover.driver.Event.What;
import io.amqplocks.prover.driver.Lines;
import io.amqplocks.prover.driver.LockRef;
import io.amqplocks.test.Broker;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** A client that follows the line protocol and breaks a promise. */
final class BrokenClient {

  /** What it does wrong. */
  enum Defect {
    /** Nothing. */
    NONE,
    /** It holds what it never acquired. */
    LOCKS_NOTHING,
    /** It says that it holds its lease after it gave it back. */
    BELIEVES_TOO_LONG,
    /** It says that it lost its lease, whatever happens. */
    LOSES_ALL,
    /** It says that its leases do not notify it of their loss. */
    NOTIFIES_NOTHING,
    /** It says that its leases notify it of a loss, and that it released them. */
    NOTIFIES_ALWAYS,
    /** Its tokens fall. */
    TOKENS_FALL,
    /** Its leases have the same token. */
    TOKENS_REPEAT,
    /** It says that it changed the number of slots, and did not. */
    IGNORES_RESIZE,
    /** It never releases. */
    KEEPS_ALL,
    /** It stops in the middle of its work, and says nothing any more. */
    HANGS,
    /** It says that it cannot do its work. */
    REFUSES,
    /** It ends in the middle of its work. */
    DIES
  }

  /** Each is twice as long as the one before. */
  private static final int ROUNDS = 4;

  private static final int ENOUGH = 10;

  /** How long a client waits for a lock in the first round. */
  private static final Duration WAIT = Duration.ofSeconds(5);

  private final Defect defect;
  private final Duration wait;
  private long token = 1_000_000;
  private int slot = 1;

  private BrokenClient(Defect defect, Duration wait) {
    this.defect = defect;
    this.wait = wait;
  }

  /**
   * Has clients with that defect carry out a plan. On a machine that is too busy they may do too
   * little to break anything. A client waits for a lock for some seconds, so a pause of the machine
   * may end one that has no defect. So there are several rounds at most, each with more time for
   * everything.
   *
   * @param wanted the promise that the defect breaks; null if it breaks none
   * @return the promises that were broken in the first round that says something
   */
  static Set<Promise> found(
      Defect defect, Plan plan, Broker broker, Path folder, @Nullable Promise wanted)
      throws InterruptedException {
    Set<Promise> last = Set.of();
    for (int i = 0; i < ROUNDS; i++) {
      Verdict verdict = verdict(defect, plan, 1 << i, broker, folder);
      Set<Promise> found = EnumSet.noneOf(Promise.class);
      verdict.violations().stream().map(Violation::promise).forEach(found::add);
      if (isConclusive(found, verdict, wanted)) {
        return found;
      }
      last = found;
    }
    throw new AssertionError(
        "%d rounds with %s say nothing, the last one: %s".formatted(ROUNDS, defect, last));
  }

  private static boolean isConclusive(
      Set<Promise> found, Verdict verdict, @Nullable Promise wanted) {
    if (wanted != null) {
      return found.contains(wanted);
    }
    return found.isEmpty()
        ? verdict.acquired() > ENOUGH
        : !found.equals(EnumSet.of(Promise.LIVENESS));
  }

  private static Verdict verdict(Defect defect, Plan plan, int times, Broker broker, Path folder)
      throws InterruptedException {
    Duration wait = WAIT.multipliedBy(times);
    List<String> program = new ArrayList<>(Prover.ownClient());
    program.set(program.size() - 1, BrokenClient.class.getName());
    program.addAll(List.of(defect.name(), wait.toString()));
    Plan longer =
        new Plan(
            plan.seed(),
            plan.clients(),
            plan.locks(),
            plan.work(),
            plan.resizes(),
            plan.harms(),
            plan.length().multipliedBy(times));
    Round round =
        new Round(longer, Site.of(broker), List.of(program), folder, wait.multipliedBy(2));
    round.run();
    return Verdict.of(longer, round.history(), round.stuck());
  }

  /**
   * Runs it, one command after the other.
   *
   * @param args the defect, and how long to wait for a lock
   */
  public static void main(String[] args) throws Exception {
    new BrokenClient(Defect.valueOf(args[0]), Duration.parse(args[1])).run();
  }

  private void run() throws Exception {
    BufferedReader in =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    AmqpLocks locks = null;
    for (String line = in.readLine(); line != null; line = in.readLine()) {
      Command command = Lines.read(line, Command.class);
      if (command.action() == Command.Action.OPEN) {
        ConnectionFactory factory = new ConnectionFactory();
        factory.setUri(Objects.requireNonNull(command.uri()));
        locks =
            AmqpLocks.builder(factory)
                .queuePrefix(Objects.requireNonNull(command.prefix()))
                .build();
      } else if (locks != null && command.action() == Command.Action.CREATE) {
        CoreLocks.create(locks, Objects.requireNonNull(command.lock()), command.slots());
      } else if (locks != null && command.action() == Command.Action.RESIZE) {
        resize(locks, command);
      } else if (locks != null) {
        work(locks, command);
      }
      boolean refused = defect == Defect.REFUSES && command.action() == Command.Action.WORK;
      say(command, 0, refused ? What.NOT_DONE : What.DONE, 0, System.nanoTime());
    }
  }

  private void resize(AmqpLocks locks, Command command) throws InterruptedException {
    if (defect != Defect.IGNORES_RESIZE) {
      CoreLocks.resize(
          locks, Objects.requireNonNull(command.lock()), command.slots(), Duration.ofSeconds(5));
    }
  }

  private void work(AmqpLocks locks, Command command) throws InterruptedException {
    for (int cycle = 1; System.nanoTime() < command.untilNanos(); cycle++) {
      long asked = System.nanoTime();
      say(command, cycle, What.ASKS, asked, asked);
      if (defect == Defect.DIES && cycle == 5) {
        System.exit(3);
      }
      if (defect == Defect.HANGS && cycle == 5) {
        TimeUnit.HOURS.sleep(1);
      }
      Lease lease = null;
      if (defect != Defect.LOCKS_NOTHING) {
        lease = lock(locks, command).acquire(wait);
        token = lease.fencingTokenIfAny().map(FencingToken::number).orElse(0L);
        slot = lease.fencingTokenIfAny().map(FencingToken::slot).orElse(lease.slot());
      }
      say(command, cycle, What.ACQUIRED, asked, System.nanoTime());
      TimeUnit.MILLISECONDS.sleep(5);
      if (defect == Defect.BELIEVES_TOO_LONG && lease != null) {
        lease.close();
        TimeUnit.MILLISECONDS.sleep(20);
      }
      sayTheEnd(command, cycle, asked);
      if (defect == Defect.KEEPS_ALL) {
        return;
      }
      if (lease != null) {
        lease.close();
      }
      say(command, cycle, What.RELEASED, asked, System.nanoTime());
    }
  }

  private void sayTheEnd(Command command, int cycle, long asked) {
    boolean loses = defect == Defect.LOSES_ALL || defect == Defect.NOTIFIES_NOTHING;
    say(command, cycle, loses ? What.LOST : What.RELEASES, asked, System.nanoTime());
    if (defect == Defect.NOTIFIES_NOTHING) {
      say(command, cycle, What.NOT_NOTIFIED, asked, System.nanoTime());
    } else if (defect == Defect.NOTIFIES_ALWAYS) {
      say(command, cycle, What.NOTIFIED, asked, System.nanoTime());
    }
  }

  private static AmqpLock lock(AmqpLocks locks, Command command) {
    LockRef ref = Objects.requireNonNull(command.lock());
    AmqpLock lock = locks.lock(CoreLocks.id(ref, command.reads()));
    return command.fenced() && !ref.kind().isFenced() ? lock.fenced() : lock;
  }

  private void say(Command command, int cycle, What what, long from, long at) {
    long number =
        switch (defect) {
          case TOKENS_FALL -> Long.MAX_VALUE - token;
          case TOKENS_REPEAT -> 5;
          default -> token;
        };
    System.out.println(
        Lines.write(new Event(command.id(), cycle, what, from, at, slot, number, null)));
  }
}
