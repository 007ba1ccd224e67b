package io.amqplocks.spring.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Objects;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.support.DefaultListableBeanFactory;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.env.Environment;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.core.io.support.SpringFactoriesLoader.ArgumentResolver;
import org.springframework.mock.env.MockEnvironment;

/** What Spring Boot would say of an application that does not start. */
final class StartFailures {

  private StartFailures() {}

  static FailureAnalysis of(ApplicationContextRunner application, String... environment) {
    FailureAnalysis[] found = new FailureAnalysis[1];
    application
        .withPropertyValues(environment)
        .run(context -> found[0] = analyze(context, environment(environment)));
    return Objects.requireNonNull(found[0]);
  }

  private static Environment environment(String... pairs) {
    MockEnvironment environment = new MockEnvironment();
    for (String pair : pairs) {
      String[] parts = pair.split("=", 2);
      environment.setProperty(parts[0], parts[1]);
    }
    return environment;
  }

  /** By the analyzers that are registered, of which the first one that knows counts, as in Boot. */
  private static FailureAnalysis analyze(
      AssertableApplicationContext context, Environment environment) {
    assertThat(context).hasFailed();
    Throwable failure = Objects.requireNonNull(context.getStartupFailure());
    return SpringFactoriesLoader.forDefaultResourceLocation()
        .load(
            FailureAnalyzer.class,
            ArgumentResolver.of(Environment.class, environment)
                .and(BeanFactory.class, new DefaultListableBeanFactory()),
            (type, name, missing) -> {}) // for what is not on the class path; Boot logs it
        .stream()
        .map(analyzer -> analyzer.analyze(failure))
        .filter(Objects::nonNull)
        .findFirst()
        .orElseThrow(() -> new AssertionError("No analysis", failure));
  }
}
