package io.amqplocks.spring.internal.web;

import io.amqplocks.lock.LockException;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.Ordered;
import org.springframework.core.annotation.Order;
import org.springframework.http.HttpHeaders;
import org.springframework.http.HttpStatus;
import org.springframework.http.ProblemDetail;
import org.springframework.http.ResponseEntity;
import org.springframework.web.bind.annotation.ExceptionHandler;
import org.springframework.web.bind.annotation.RestControllerAdvice;

/**
 * Answers requests whose lock was busy, or whose broker is away, by problem details (RFC 9457) that
 * a client can act on: 429 and 503, both with {@code Retry-After}. It comes last, so an
 * application's own exception handlers win.
 *
 * <p>The answer names neither lock nor broker. Those are the operator's, and are in the log.
 */
@RestControllerAdvice
@Order(Ordered.LOWEST_PRECEDENCE)
public final class LockExceptionAdvice {

  private static final Logger log = LoggerFactory.getLogger(LockExceptionAdvice.class);

  private final Duration retryAfter;

  /** Answers that ask the client to wait so long, in full seconds. */
  public LockExceptionAdvice(Duration retryAfter) {
    this.retryAfter = retryAfter;
  }

  /** The lock was busy for as long as the call was willing to wait. */
  @ExceptionHandler
  ResponseEntity<ProblemDetail> busy(LockException.AcquireTimeout busy) {
    log.debug("Answered by 429: {}", busy.getMessage());
    return answer(
        HttpStatus.TOO_MANY_REQUESTS, "What this request needs is in use. Try again later.");
  }

  /** The broker cannot be reached, or does not answer. */
  @ExceptionHandler({LockException.Unreachable.class, LockException.Unanswered.class})
  ResponseEntity<ProblemDetail> unavailable(LockException unavailable) {
    log.warn("Answered by 503: {}", unavailable.getMessage());
    return answer(
        HttpStatus.SERVICE_UNAVAILABLE,
        "A service that this request needs cannot be reached. Try again later.");
  }

  private ResponseEntity<ProblemDetail> answer(HttpStatus status, String detail) {
    return ResponseEntity.status(status)
        .header(HttpHeaders.RETRY_AFTER, String.valueOf(retryAfter.plusMillis(999).toSeconds()))
        .body(ProblemDetail.forStatusAndDetail(status, detail));
  }
}
