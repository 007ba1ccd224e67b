package io.amqplocks.spring.autoconfigure;

import io.amqplocks.spring.GuardedMethodException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Shows what is wrong with an annotated method; the message tells what to do too. */
final class GuardedMethodFailureAnalyzer extends AbstractFailureAnalyzer<GuardedMethodException> {

  @Override
  protected FailureAnalysis analyze(Throwable rootFailure, GuardedMethodException cause) {
    return new FailureAnalysis(
        cause.getMessage(),
        "Correct the annotation or the method, as described; the Javadoc of @SemaphoreGuarded and"
            + " @MutexGuarded says what may be guarded. Where it cannot be, use LockTemplate.",
        cause);
  }
}
