package io.amqplocks.test;

import java.lang.reflect.Executable;
import java.util.List;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.extension.BeforeAllCallback;
import org.junit.jupiter.api.extension.ClassTemplateInvocationContext;
import org.junit.jupiter.api.extension.ClassTemplateInvocationContextProvider;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolutionException;
import org.junit.jupiter.api.extension.ParameterResolver;
import org.junit.platform.commons.support.AnnotationSupport;

/** Makes one run of a {@link BrokerTest} class for each line, and fills in the only run's broker. */
final class BrokerExtension
    implements ClassTemplateInvocationContextProvider, BeforeAllCallback, ParameterResolver {

  @Override
  public boolean supportsClassTemplate(ExtensionContext context) {
    return true;
  }

  @Override
  public Stream<ClassTemplateInvocationContext> provideClassTemplateInvocationContexts(
      ExtensionContext context) {
    SharedBrokers brokers = SharedBrokers.of(context);
    ClassBrokers ofClass = ofClass(context, brokers);
    return lines(context, brokers).stream().map(line -> new BrokerRun(brokers, ofClass, line));
  }

  /** A class that runs once needs its broker already for its own {@code @BeforeAll}. */
  @Override
  public void beforeAll(ExtensionContext context) {
    if (!everyLine(context)) {
      SharedBrokers brokers = SharedBrokers.of(context);
      brokers.require(lines(context, brokers).get(0));
    }
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == Broker.class && aroundRuns(parameter);
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    SharedBrokers brokers = SharedBrokers.of(context);
    return ofClass(context, brokers).get(onlyLine(context, brokers));
  }

  private static ClassBrokers ofClass(ExtensionContext context, SharedBrokers brokers) {
    return ClassBrokers.of(context, brokers, asksFor(context, BrokerTest::ownBroker));
  }

  /** JUnit calls these methods once around all runs, not in each; the rest is {@link BrokerRun}'s. */
  static boolean aroundRuns(ParameterContext parameter) {
    Executable called = parameter.getDeclaringExecutable();
    return called.isAnnotationPresent(BeforeAll.class)
        || called.isAnnotationPresent(AfterAll.class);
  }

  private static String onlyLine(ExtensionContext context, SharedBrokers brokers) {
    List<String> lines = lines(context, brokers);
    if (lines.size() > 1) {
      throw new ParameterResolutionException(
          "@BeforeAll and @AfterAll run once around the runs on "
              + lines
              + " and have no Broker: take it in @BeforeEach or the constructor");
    }
    return lines.get(0);
  }

  /** What the class runs on; never empty, because a run without a broker says why there is none. */
  private static List<String> lines(ExtensionContext context, SharedBrokers brokers) {
    List<String> wanted = brokers.offers().wanted();
    if (wanted.isEmpty()) {
      return List.of("");
    }
    return everyLine(context) ? wanted : wanted.subList(0, 1);
  }

  private static boolean everyLine(ExtensionContext context) {
    return asksFor(context, BrokerTest::everyLine);
  }

  private static boolean asksFor(ExtensionContext context, Predicate<BrokerTest> what) {
    return Stream.concat(
            Stream.of(context.getRequiredTestClass()), context.getEnclosingTestClasses().stream())
        .flatMap(tested -> AnnotationSupport.findAnnotation(tested, BrokerTest.class).stream())
        .anyMatch(what);
  }
}
