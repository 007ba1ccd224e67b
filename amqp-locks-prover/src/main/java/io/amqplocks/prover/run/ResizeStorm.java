package io.amqplocks.prover.run;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.LockException;
import io.amqplocks.prover.check.Violation;
import io.amqplocks.prover.check.Violation.Promise;
import io.amqplocks.prover.driver.Command;
import io.amqplocks.prover.driver.CoreLocks;
import io.amqplocks.prover.driver.Event;
import io.amqplocks.prover.driver.Event.What;
import io.amqplocks.prover.driver.LockRef;
import io.amqplocks.prover.history.History;
import io.amqplocks.prover.run.Plan.Resize;
import io.amqplocks.prover.run.Plan.Slots;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;

/**
 * Clients change the numbers of slots of semaphores while all work. A client that changes them may
 * be harmed as any other. Each lock has one such client, which begins no change before it knows how
 * the one before has ended.
 */
final class ResizeStorm {

  private final Plan plan;
  private final List<ClientProcess> clients;
  private final Duration patience;
  private final long began = System.nanoTime();
  private final Map<LockRef, CompletableFuture<Boolean>> running = new LinkedHashMap<>();

  private ResizeStorm(Plan plan, List<ClientProcess> clients, Duration patience) {
    this.plan = plan;
    this.clients = clients;
    this.patience = patience;
  }

  /** Begins the changes of a plan. */
  static ResizeStorm begin(Plan plan, List<ClientProcess> clients, Duration patience) {
    ResizeStorm result = new ResizeStorm(plan, clients, patience);
    plan.resizes().stream()
        .collect(Collectors.groupingBy(Resize::lock, LinkedHashMap::new, Collectors.toList()))
        .forEach(
            (lock, changes) ->
                result.running.put(
                    lock,
                    CompletableFuture.supplyAsync(
                        () -> result.change(changes),
                        task -> new Thread(task, "administrator").start())));
    return result;
  }

  /**
   * How long after a change the holder of a slot that was removed may be certain. A token that is
   * to be removed has come back before the change is over. The holder of a slot finds out at its
   * next verification. If it cannot verify, it is not certain after 1.75 heartbeats.
   */
  static Duration grace(LockRef lock, Duration heartbeat) {
    return lock.kind().hasTokens() ? Duration.ZERO : heartbeat.multipliedBy(7).dividedBy(4);
  }

  /** Of how many changes nobody knows what effect they had. */
  static int unknown(History history) {
    return (int)
        history.commands().stream()
            .filter(told -> told.command().action() == Command.Action.RESIZE)
            .filter(told -> history.outcome(told).filter(ResizeStorm::isKnown).isEmpty())
            .count();
  }

  /** A client that has no such command has changed nothing. */
  private static boolean isKnown(Event end) {
    return end.what() == What.DONE || end.what() == What.UNSUPPORTED;
  }

  /** Returns whether the effect of all changes is known. */
  private boolean change(List<Resize> changes) {
    boolean good = true;
    try {
      for (Resize each : changes) {
        ClientProcess client = clients.get(each.client());
        long wait = began + each.begin().toNanos() - System.nanoTime();
        TimeUnit.NANOSECONDS.sleep(Math.max(0, wait));
        if (!client.isAlive()) {
          return false;
        }
        if (System.nanoTime() - began > plan.length().toNanos()) {
          break;
        }
        good &= carryOut(client, each);
      }
      return good;
    } catch (ExecutionException e) {
      return false;
    } catch (InterruptedException | TimeoutException e) {
      throw new CompletionException(e);
    }
  }

  /**
   * A change has many steps, and each is a call. On a busy machine one of them may be answered too
   * late without a fault, so that change is begun again.
   */
  private boolean carryOut(ClientProcess client, Resize change)
      throws ExecutionException, InterruptedException, TimeoutException {
    for (int left = plan.harms().isEmpty() ? 5 : 0; ; left--) {
      Command command =
          Command.resize(client.newId(), change.lock(), change.slots(), System.nanoTime());
      Event end = client.send(command).get(patience.toNanos(), TimeUnit.NANOSECONDS);
      if (isKnown(end)) {
        return true;
      }
      String why = String.valueOf(end.detail());
      if (left == 0 || !(why.contains("$Unanswered") || why.contains("$Unreachable"))) {
        return false;
      }
      Round.pause(Duration.ofMillis(500));
    }
  }

  /**
   * Waits until no change is under way. Returns which of them did not end, or failed for nothing.
   */
  List<Violation> awaitEnd() {
    List<Violation> stuck = new ArrayList<>();
    running.forEach(
        (lock, changes) -> {
          try {
            if (!changes.join() && plan.harms().isEmpty()) {
              stuck.add(stuck(lock, "a change of its slots failed without a fault"));
            }
          } catch (CompletionException e) {
            stuck.add(stuck(lock, "a change of its slots did not end: " + e.getCause()));
          }
        });
    return stuck;
  }

  /**
   * Gives each lock the slots that it had at the beginning. What an interrupted change left of a
   * token semaphore is repaired, and nothing else is. Returns for which locks this failed.
   */
  List<Violation> settle(AmqpLocks observer) throws InterruptedException {
    List<Violation> stuck = new ArrayList<>();
    for (Slots each : plan.locks()) {
      CompletableFuture<Boolean> changes = running.get(each.lock());
      if (changes != null) {
        try {
          if (each.lock().kind().hasTokens()
              && (changes.isCompletedExceptionally() || !changes.join())) {
            var unused =
                Round.patiently(
                    patience,
                    () -> observer.admin().tokenSemaphore(each.lock().name()).repair(REPAIR));
          }
          var unused =
              Round.patiently(
                  patience,
                  () -> {
                    CoreLocks.resize(observer, each.lock(), each.count(), patience);
                    return true;
                  });
        } catch (LockException | IllegalStateException e) {
          stuck.add(stuck(each.lock(), "an observer could not change its slots: " + e));
        }
      }
    }
    return stuck;
  }

  /** Nobody works any more, so a token that does not come has been lost. */
  private static final Duration REPAIR = Duration.ofSeconds(2);

  private static Violation stuck(LockRef lock, String text) {
    return new Violation(Promise.LIVENESS, lock, System.nanoTime(), List.of(), lock + ": " + text);
  }
}
