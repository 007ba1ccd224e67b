package io.amqplocks.spring.autoconfigure;

import io.amqplocks.spring.LockConfigurationException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Says what is wrong with properties, annotations or beans, and what to do about it. */
final class LockConfigurationFailureAnalyzer
    extends AbstractFailureAnalyzer<LockConfigurationException> {

  @Override
  protected FailureAnalysis analyze(Throwable rootFailure, LockConfigurationException cause) {
    return new FailureAnalysis(cause.description(), cause.action(), cause);
  }
}
