package io.amqplocks.spring.internal.endpoint;

import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockKind.Family;
import io.amqplocks.lock.LocksStatus;
import io.amqplocks.spring.internal.catalog.LockCatalog;
import io.amqplocks.spring.internal.endpoint.LocksDescriptor.Loss;
import io.amqplocks.spring.internal.endpoint.LocksDescriptor.Session;
import io.amqplocks.spring.internal.endpoint.OperatedLock.Done;
import io.amqplocks.spring.internal.time.Durations;
import java.security.Principal;
import java.time.Duration;
import java.time.InstantSource;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aot.hint.annotation.RegisterReflectionForBinding;
import org.springframework.boot.actuate.endpoint.Access;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.Show;
import org.springframework.boot.actuate.endpoint.annotation.DeleteOperation;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.boot.actuate.endpoint.web.annotation.WebEndpoint;

/**
 * The locks of this application under {@code /actuator/amqplocks}, and each under its kind and
 * name, as in {@code /actuator/amqplocks/semaphore/images}. Only reading is allowed unless {@code
 * management.endpoint.amqplocks.access=unrestricted}. The other requests are these:
 *
 * <ul>
 *   <li>A POST with {@code {"slots": 7}} resizes a semaphore.
 *   <li>A POST with {@code {"sweepKeysUnusedFor": "24h"}} removes its keys that nobody uses.
 *   <li>A POST with {@code {"enabled": false}} disables a persistent mutex.
 *   <li>A DELETE takes the lock from all who hold it. The lock itself stays.
 * </ul>
 *
 * <p>Of a mutex and a semaphore of one name the kind says which is meant; the algorithm is that
 * which the application uses for the name, unless the parameter {@code algorithm} names another. A
 * name may have slashes. One that does not fit in a path can still be found in the list of all.
 */
@RegisterReflectionForBinding({ // a response of any type says nothing of what is in it
  LockDescriptor.class,
  ChangeDescriptor.class,
  ProblemDescriptor.class
})
@WebEndpoint(id = "amqplocks", defaultAccess = Access.READ_ONLY)
public final class AmqpLocksEndpoint {

  private static final Logger log = LoggerFactory.getLogger(AmqpLocksEndpoint.class);
  private static final int CONFLICT = 409;
  private static final Duration LONGEST_TIMEOUT = Duration.ofMinutes(1);

  private final AmqpLocks locks;
  private final LockCatalog catalog;
  private final LockViews views;
  private final LockChanges changes;
  private final Shown shown;

  /**
   * The callers that may see fencing tokens.
   *
   * @param values when
   * @param roles to which users, if they have to be authorized; none for all
   */
  public record Shown(Show values, Set<String> roles) {
    boolean to(SecurityContext caller) {
      return values.isShown(caller, roles);
    }
  }

  /** An endpoint of those locks. */
  public AmqpLocksEndpoint(
      AmqpLocks locks,
      LockCatalog catalog,
      BrokerQueries queries,
      Shown shown,
      InstantSource clock) {
    this.locks = locks;
    this.catalog = catalog;
    this.shown = shown;
    views = new LockViews(locks, catalog, queries, clock);
    changes = new LockChanges(locks, catalog);
  }

  /** All locks that this application names, holds or waits for. */
  @ReadOperation
  public LocksDescriptor locks(SecurityContext caller) {
    List<LockDescriptor> all = views.of(views.known(), shown.to(caller));
    LocksStatus status = locks.status();
    return new LocksDescriptor(
        new Session(status.session(), status.blocked()),
        status.held(),
        status.uncertain(),
        status.waiting(),
        status
            .lastLoss()
            .flatMap(what -> status.lastLossAt().map(at -> new Loss(what, at)))
            .orElse(null),
        all);
  }

  /** One lock; 404 if neither this application nor the broker knows it. */
  @ReadOperation
  public WebEndpointResponse<?> lock(
      SecurityContext caller,
      @Selector String kind,
      @Selector(match = Selector.Match.ALL_REMAINING) String[] name,
      @Nullable String algorithm) {
    return answer(
        () -> {
          LockId id = parse(kind, name, algorithm);
          return new WebEndpointResponse<>(existing(id, caller));
        });
  }

  /**
   * Resizes a semaphore, removes the unused keys of one, or enables or disables a persistent mutex.
   */
  @WriteOperation
  public WebEndpointResponse<?> change(
      SecurityContext caller,
      @Selector String kind,
      @Selector(match = Selector.Match.ALL_REMAINING) String[] name,
      @Nullable String algorithm,
      @Nullable Integer slots,
      @Nullable Boolean enabled,
      @Nullable String sweepKeysUnusedFor) {
    return change(
        caller,
        () -> parse(kind, name, algorithm),
        id -> {
          long given =
              Stream.of(slots, enabled, sweepKeysUnusedFor).filter(Objects::nonNull).count();
          if (given == 1 && slots != null) {
            requireSeen(id, caller);
            return new RequestedChange("resize to " + slots, () -> changes.resize(id, slots));
          }
          if (given == 1 && enabled != null) {
            return new RequestedChange(
                enabled ? "enable" : "disable", () -> changes.enable(id, enabled));
          }
          if (given == 1 && sweepKeysUnusedFor != null) {
            Duration unused = duration("sweepKeysUnusedFor", sweepKeysUnusedFor);
            return new RequestedChange(
                "sweep keys unused for " + unused, () -> changes.sweepKeys(id, unused));
          }
          throw new LockException.Invalid(
              "Say what to change: {\"slots\": 5} or {\"sweepKeysUnusedFor\": \"24h\"} of a semaphore,"
                  + " or {\"enabled\": true} of a persistent mutex");
        });
  }

  /**
   * Takes the lock from all who hold it.
   *
   * @param timeout for how long those who hold tokens in other processes may still give them back;
   *     by default not at all, and for a minute at most: nobody can acquire meanwhile
   */
  @DeleteOperation
  public WebEndpointResponse<?> forceRelease(
      SecurityContext caller,
      @Selector String kind,
      @Selector(match = Selector.Match.ALL_REMAINING) String[] name,
      @Nullable String algorithm,
      @Nullable String timeout) {
    return change(
        caller,
        () -> parse(kind, name, algorithm),
        id -> {
          Duration bound = timeout == null ? Duration.ZERO : bounded(duration("timeout", timeout));
          existing(id, caller);
          String why = "taken back by " + name(caller) + " by the endpoint amqplocks";
          return new RequestedChange(
              "take back", () -> OperatedLock.of(locks, id).release(why, bound));
        });
  }

  /** Spring Boot would take a number without a unit for milliseconds, its writer for seconds. */
  private static Duration duration(String parameter, String text) {
    try {
      return Durations.withUnit(parameter, text);
    } catch (IllegalArgumentException e) {
      throw new LockException.Invalid(String.valueOf(e.getMessage()));
    }
  }

  private static Duration bounded(Duration bound) {
    if (bound.isNegative() || bound.compareTo(LONGEST_TIMEOUT) > 0) {
      throw new LockException.Invalid(
          "A timeout of %s is not possible: nobody can acquire the lock meanwhile. Use %s at most;"
                  .formatted(bound, LONGEST_TIMEOUT)
              + " to wait longer, use repair(timeout) of the lock's admin()");
    }
    return bound;
  }

  private LockId parse(String kind, String[] name, @Nullable String algorithm) {
    return LockAddress.parse(catalog, kind, String.join("/", name), algorithm);
  }

  private LockDescriptor view(LockId id, SecurityContext caller) {
    return views.of(Set.of(id), shown.to(caller)).get(0);
  }

  private LockDescriptor existing(LockId id, SecurityContext caller) {
    LockDescriptor lock = view(id, caller);
    if (lock.broker().isAbsent() && !views.known().contains(id)) {
      throw new LockException.NotFound(
          id.kind().family() != Family.SEMAPHORE
              ? "Nobody holds the %s or waits for it, and this application names none like that. One with keys is asked for as NAME:KEY"
                  .formatted(id)
              : "There is no %s: neither this application nor the broker knows it".formatted(id));
    }
    return lock;
  }

  /**
   * A resize would create a slot semaphore that is not there. So one that the application does not
   * name must be seen at the broker.
   */
  private void requireSeen(LockId id, SecurityContext caller) {
    String unknown = existing(id, caller).broker().error();
    if (unknown != null && !views.known().contains(id)) {
      throw new LockException.Unanswered(
          "It is not known whether there is a %s: %s".formatted(id, unknown));
    }
  }

  /** A change that makes sense, not begun yet. */
  private record RequestedChange(String what, Supplier<Done> change) {}

  /** A change is in the log before it begins: it may fail half-way, or take its time. */
  private WebEndpointResponse<?> change(
      SecurityContext caller, Supplier<LockId> lock, Function<LockId, RequestedChange> request) {
    return answer(
        () -> {
          LockId id = lock.get();
          RequestedChange requested = request.apply(id);
          log.warn(
              "{}: {}, asked by {} by the endpoint amqplocks", id, requested.what(), name(caller));
          Done done;
          try {
            done = requested.change().get();
          } catch (LockException | PartialChangeException e) {
            log.warn("{}: {} failed: {}", id, requested.what(), e.getMessage());
            throw e;
          }
          log.warn("{}: {}", id, done.done());
          return new WebEndpointResponse<>(
              new ChangeDescriptor(done.done(), done.next(), view(id, caller)));
        });
  }

  private static String name(SecurityContext caller) {
    Principal principal = caller.getPrincipal();
    return principal == null ? "an unknown user" : "user " + principal.getName();
  }

  private static WebEndpointResponse<?> answer(Supplier<WebEndpointResponse<?>> answer) {
    try {
      return answer.get();
    } catch (LockException e) {
      return problem(e, e);
    } catch (PartialChangeException e) {
      return problem(e.reason(), e);
    }
  }

  private static WebEndpointResponse<?> problem(LockException kind, RuntimeException problem) {
    return new WebEndpointResponse<>(
        new ProblemDescriptor(String.valueOf(problem.getMessage())), status(kind));
  }

  private static int status(LockException problem) {
    if (problem instanceof LockException.Invalid) {
      return WebEndpointResponse.STATUS_BAD_REQUEST;
    }
    if (problem instanceof LockException.NotFound) {
      return WebEndpointResponse.STATUS_NOT_FOUND;
    }
    return problem instanceof LockException.Conflict
            || problem instanceof LockException.AcquireTimeout
        ? CONFLICT
        : WebEndpointResponse.STATUS_SERVICE_UNAVAILABLE;
  }
}
