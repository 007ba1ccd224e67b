package io.amqplocks.spring.internal.guard.declared;

import io.amqplocks.lock.LockException;
import java.lang.reflect.Method;
import java.util.Arrays;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.IntStream;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.springframework.context.expression.MethodBasedEvaluationContext;
import org.springframework.core.ParameterNameDiscoverer;
import org.springframework.expression.BeanResolver;
import org.springframework.expression.EvaluationException;
import org.springframework.expression.ParseException;
import org.springframework.expression.spel.SpelNode;
import org.springframework.expression.spel.ast.VariableReference;
import org.springframework.expression.spel.standard.SpelExpression;
import org.springframework.expression.spel.standard.SpelExpressionParser;

/** An expression of an annotation that computes something from a call, read once. */
public final class CallExpression {

  private static final SpelExpressionParser PARSER = new SpelExpressionParser();
  private static final ParameterNameDiscoverer NAMES = new ParameterNames();

  private final String attribute;
  private final SpelExpression expression;
  private final Method method;
  private final String where;
  private final @Nullable BeanResolver beans;

  private CallExpression(
      String attribute,
      SpelExpression expression,
      Method method,
      String where,
      @Nullable BeanResolver beans) {
    this.attribute = attribute;
    this.expression = expression;
    this.method = method;
    this.where = where;
    this.beans = beans;
  }

  /**
   * Reads it.
   *
   * @param attribute the attribute of the annotation, for messages
   * @param method the one of the target's class, which knows the names of its parameters
   * @throws IllegalArgumentException if it cannot be read or speaks of a parameter that is not
   *     there
   */
  public static CallExpression parse(
      String attribute, String text, Method method, String where, @Nullable BeanResolver beans) {
    try {
      SpelExpression expression = PARSER.parseRaw(text);
      requireKnownVariables(attribute, expression, method);
      return new CallExpression(attribute, expression, method, where, beans);
    } catch (ParseException | IllegalStateException e) {
      throw new IllegalArgumentException(
          "its %s '%s' is no SpEL expression: %s; write a parameter as #name, a text as 'text'"
              .formatted(attribute, text, e.getMessage()),
          e);
    }
  }

  private static void requireKnownVariables(
      String attribute, SpelExpression expression, Method method) {
    Set<String> known = new LinkedHashSet<>();
    @Nullable String @Nullable [] names = NAMES.getParameterNames(method);
    int count = method.getParameterCount() - (SuspendingFunction.is(method) ? 1 : 0);
    if (names != null) {
      Arrays.stream(names)
          .limit(count)
          .filter(Objects::nonNull)
          .map(name -> "#" + name)
          .forEach(known::add);
    }
    IntStream.range(0, count).forEach(i -> known.addAll(List.of("#p" + i, "#a" + i)));
    known.addAll(List.of("#root", "#this"));
    Set<String> unknown = new TreeSet<>();
    collectVariables(expression.getAST(), unknown);
    unknown.removeAll(known);
    if (!unknown.isEmpty()) {
      throw new IllegalArgumentException(
          "its %s '%s' names %s, and there is only %s%s"
              .formatted(
                  attribute,
                  expression.getExpressionString(),
                  String.join(", ", unknown),
                  String.join(", ", known),
                  names == null
                      ? "; compile with -parameters, or Kotlin with -java-parameters, to have their names"
                      : ""));
    }
  }

  private static void collectVariables(SpelNode node, Set<String> into) {
    if (node instanceof VariableReference) {
      into.add(node.toStringAST());
    }
    for (int i = 0; i < node.getChildCount(); i++) {
      collectVariables(node.getChild(i), into);
    }
  }

  /**
   * Its value for that call.
   *
   * @throws LockException.Invalid if it cannot be computed
   */
  @Nullable Object valueFor(MethodInvocation call) {
    @Nullable Object[] arguments = call.getArguments();
    MethodBasedEvaluationContext context =
        new MethodBasedEvaluationContext(
            new KeyRoot(
                method,
                SuspendingFunction.is(method)
                    ? Arrays.copyOf(arguments, arguments.length - 1) // without the continuation
                    : arguments,
                call.getThis()),
            method,
            arguments, // from which Spring takes it away itself
            NAMES);
    if (beans != null) {
      context.setBeanResolver(beans);
    }
    try {
      return expression.getValue(context);
    } catch (EvaluationException e) {
      throw invalid("cannot be computed: " + e.getMessage(), e);
    }
  }

  /** The error for a value that does not do. */
  LockException.Invalid invalid(String how, @Nullable Throwable cause) {
    LockException.Invalid invalid =
        new LockException.Invalid(
            "The %s '%s' of a lock of %s %s"
                .formatted(attribute, expression.getExpressionString(), where, how));
    if (cause != null) {
      invalid.addSuppressed(cause); // it takes no cause
    }
    return invalid;
  }

  @Override
  public String toString() {
    return "'" + expression.getExpressionString() + "'";
  }
}
