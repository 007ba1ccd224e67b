package io.amqplocks.spring.internal.web;

import io.amqplocks.lock.LockException;
import io.amqplocks.spring.internal.time.LogThrottle;
import io.amqplocks.spring.internal.time.Ticker;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestController;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/**
 * Answers requests whose lock was busy, or whose broker is away, by problem details (RFC 9457) that
 * a client can act on: 429 and 503, both with {@code Retry-After}. It comes last, so an
 * application's own exception handlers win. Only controllers with {@link RestController} have it: a
 * browser is better served by the application's error page.
 *
 * <p>The answer names neither lock nor broker. Those are the operator's, and are in the log.
 */
@RestControllerAdvice(annotations = RestController.class)
@Order(Ordered.LOWEST_PRECEDENCE)
public final class LockExceptionAdvice {

  private static final Logger log = LoggerFactory.getLogger(LockExceptionAdvice.class);

  /** An outage meets each request; one warning in a while says it. */
  private static final Duration WARN_EVERY = Duration.ofSeconds(10);

  private final Duration retryAfter;
  private final LogThrottle throttle;

  /** Answers that ask the client to wait so long, in full seconds. */
  public LockExceptionAdvice(Duration retryAfter) {
    this(retryAfter, Ticker.SYSTEM);
  }

  LockExceptionAdvice(Duration retryAfter, Ticker ticker) {
    this.retryAfter = retryAfter;
    throttle = new LogThrottle(WARN_EVERY, ticker);
  }

  /** The lock was busy for as long as the call was willing to wait. */
  @ExceptionHandler(LockException.AcquireTimeout.class)
  ResponseEntity<ProblemDetail> busy(Exception raised) throws Exception {
    requireUntranslated(raised);
    log.debug("Answered by 429: {}", raised.getMessage());
    return answer(
        HttpStatus.TOO_MANY_REQUESTS, "What this request needs is in use. Try again later.");
  }

  /** The broker cannot be reached, or does not answer. */
  @ExceptionHandler({LockException.Unreachable.class, LockException.Unanswered.class})
  ResponseEntity<ProblemDetail> unavailable(Exception raised) throws Exception {
    requireUntranslated(raised);
    boolean warns = throttle.isDue();
    log.atLevel(warns ? Level.WARN : Level.DEBUG)
        .log(
            "Answered by 503: {}{}",
            raised.getMessage(),
            warns ? " (others within the next 10 s are logged at DEBUG)" : "");
    return answer(
        HttpStatus.SERVICE_UNAVAILABLE,
        "A service that this request needs cannot be reached. Try again later.");
  }

  /**
   * Spring finds a handler by the causes of an exception too. An application that has put a lock's
   * exception into one of its own has decided on the answer.
   */
  private static void requireUntranslated(Exception raised) throws Exception {
    if (!(raised instanceof LockException)) {
      throw raised;
    }
  }

  private ResponseEntity<ProblemDetail> answer(HttpStatus status, String detail) {
    return ResponseEntity.status(status)
        .header(HttpHeaders.RETRY_AFTER, String.valueOf(retryAfter.plusMillis(999).toSeconds()))
        .body(ProblemDetail.forStatusAndDetail(status, detail));
  }
}
