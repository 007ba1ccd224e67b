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
import org.opentest4j.TestAbortedException;

/**
 * Makes one run of a {@link BrokerTest} class for each line, and fills in the only run's broker.
 */
final class BrokerExtension
    implements ClassTemplateInvocationContextProvider, BeforeAllCallback, ParameterResolver {

  @Override
  public boolean supportsClassTemplate(ExtensionContext context) {
    return true;
  }

  /** None of the lines wanted may be one that the class is for, or it has had its turn. */
  @Override
  public boolean mayReturnZeroClassTemplateInvocationContexts(ExtensionContext context) {
    return true;
  }

  @Override
  public Stream<ClassTemplateInvocationContext> provideClassTemplateInvocationContexts(
      ExtensionContext context) {
    SharedBrokers brokers = SharedBrokers.of(context);
    ClassBrokers ofClass = ofClass(context, brokers);
    List<String> lines = lines(context, brokers);
    List<String> taken = everyLine(context) ? lines : brokers.offers().once(lines);
    return taken.stream().map(line -> new BrokerRun(brokers, ofClass, line));
  }

  /** A class that runs once needs its broker already for its own {@code @BeforeAll}. */
  @Override
  public void beforeAll(ExtensionContext context) {
    if (!everyLine(context)) {
      SharedBrokers brokers = SharedBrokers.of(context);
      lines(context, brokers).forEach(brokers::require);
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

  /**
   * JUnit calls these methods once around all runs, not in each; the rest is {@link BrokerRun}'s.
   */
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
    if (lines.isEmpty()) {
      throw new TestAbortedException("None of the lines wanted is one that the class is for");
    }
    return lines.get(0);
  }

  /**
   * What the class runs on; where no line is wanted, a run without a broker says why there is none.
   */
  private static List<String> lines(ExtensionContext context, SharedBrokers brokers) {
    if (asksFor(context, BrokerTest::embedded)) {
      return List.of(Brokers.EMBEDDED);
    }
    List<String> wanted = brokers.offers().wantedOfRabbitMq();
    if (wanted.isEmpty()) {
      return List.of("");
    }
    List<String> fitting = wanted.stream().filter(line -> isFor(context, line)).toList();
    return everyLine(context)
        ? brokers.offers().inTurn(fitting)
        : fitting.stream().limit(1).toList();
  }

  private static boolean isFor(ExtensionContext context, String line) {
    BrokerVersion version = BrokerVersion.parse(line);
    return !asksFor(context, test -> !test.from().isEmpty() && isBefore(version, test.from()))
        && !asksFor(context, test -> !test.before().isEmpty() && !isBefore(version, test.before()));
  }

  private static boolean isBefore(BrokerVersion version, String line) {
    return version.compareTo(BrokerVersion.parse(line)) < 0;
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
