package io.amqplocks.spring.internal.guard.declared;

import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.springframework.util.ClassUtils;

/**
 * Tells the text of {@link Object#toString()}, which differs from object to object, where a value
 * has it from another object: a proxy of Hibernate, of Spring or of the JDK has a {@code toString}
 * that hands the call on. The class that the text names need not be one of the value's: a lazy
 * association may be of a subclass.
 */
final class IdentityText {

  private static final Pattern FORM = Pattern.compile("(.+)@[0-9a-f]{1,8}");

  /** To look a class up takes time, and a class loader may remember each name that it has not. */
  private static final Pattern CLASS_NAME =
      Pattern.compile("\\[.+|\\p{javaJavaIdentifierPart}+(\\.\\p{javaJavaIdentifierPart}+)+");

  private IdentityText() {}

  /** Whether the value's text is that of an object whose class has no text of its own. */
  static boolean is(Object value, String text) {
    if (value instanceof CharSequence || value instanceof Enum<?>) {
      return false;
    }
    Matcher form = FORM.matcher(text);
    return form.matches() && hasNoText(form.group(1), value.getClass().getClassLoader());
  }

  /** Asks the class itself, so that nothing else that only looks so is taken for it. */
  private static boolean hasNoText(String className, ClassLoader loader) {
    if (className.contains("$$Lambda")) {
      return true; // no class that can be found by its name
    }
    if (!CLASS_NAME.matcher(className).matches()) {
      return false;
    }
    try {
      // Those of the JDK, such as an AtomicReference, have no loader.
      return !KeyText.hasText(
          Class.forName(
              className, false, loader == null ? ClassUtils.getDefaultClassLoader() : loader));
    } catch (ClassNotFoundException | LinkageError e) {
      return false;
    }
  }
}
