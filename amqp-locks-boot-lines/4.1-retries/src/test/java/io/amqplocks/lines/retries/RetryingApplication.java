package io.amqplocks.lines.retries;

import static java.util.Objects.requireNonNull;

import io.amqplocks.lock.Lease;
import io.amqplocks.spring.MutexGuarded;
import io.github.resilience4j.bulkhead.annotation.Bulkhead;
import io.github.resilience4j.circuitbreaker.annotation.CircuitBreaker;
import io.github.resilience4j.retry.annotation.Retry;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.retry.annotation.Backoff;
import org.springframework.retry.annotation.EnableRetry;
import org.springframework.retry.annotation.Retryable;

/** An application whose guarded methods are retried by libraries. */
@SpringBootApplication(proxyBeanMethods = false)
@EnableRetry
class RetryingApplication {

  @Bean
  Reports reports() {
    return new Reports();
  }

  /** Fails twice, and notes the lease of each attempt. */
  static class Reports {
    private final List<Lease> leases = new CopyOnWriteArrayList<>();

    List<Lease> leases() {
      return leases;
    }

    @MutexGuarded(name = "spring-retry")
    @Retryable(maxAttempts = 3, backoff = @Backoff(delay = 1))
    public String bySpringRetry(@Nullable Lease lease) {
      return attempt(lease);
    }

    @MutexGuarded(name = "resilience4j")
    @Retry(name = "reports")
    public String byResilience4j(@Nullable Lease lease) {
      return attempt(lease);
    }

    @MutexGuarded(name = "later")
    @Retry(name = "reports")
    public CompletableFuture<String> laterByResilience4j(@Nullable Lease lease) {
      try {
        return CompletableFuture.completedFuture(attempt(lease));
      } catch (IllegalStateException e) {
        return CompletableFuture.failedFuture(e);
      }
    }

    @MutexGuarded(name = "all")
    @Retry(name = "reports")
    @CircuitBreaker(name = "reports")
    @Bulkhead(name = "reports")
    public String byAllOfResilience4j(@Nullable Lease lease) {
      return attempt(lease);
    }

    private String attempt(@Nullable Lease lease) {
      leases.add(requireNonNull(lease));
      if (leases.size() < 3) {
        throw new IllegalStateException("again");
      }
      return "done";
    }
  }
}
