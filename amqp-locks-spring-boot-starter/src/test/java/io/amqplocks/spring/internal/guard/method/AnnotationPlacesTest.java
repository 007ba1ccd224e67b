package io.amqplocks.spring.internal.guard.method;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.OnBusy;
import io.amqplocks.spring.SemaphoreGuarded;
import io.amqplocks.spring.internal.catalog.LockCatalog;
import io.amqplocks.spring.internal.guard.declared.GuardAnnotations;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.springframework.core.MethodIntrospector;
import org.springframework.core.MethodIntrospector.MetadataLookup;
import org.springframework.core.annotation.AliasFor;

/** Where annotations are found, and which of them count. */
class AnnotationPlacesTest {

  private final GuardedMethods methods =
      new GuardedMethods(new LockCatalog(Duration.ZERO), text -> text, null);

  /** The locks of the method, as {@code label 'name'}. */
  private List<String> of(Class<?> type, String name) throws NoSuchMethodException {
    return methods.of(method(type, name), type).guards().stream()
        .map(guard -> guard.lock().toString())
        .toList();
  }

  private static Method method(Class<?> type, String name) throws NoSuchMethodException {
    for (Class<?> each = type; each != null; each = each.getSuperclass()) {
      for (Method method : each.getDeclaredMethods()) {
        if (method.getName().equals(name)) {
          return method;
        }
      }
    }
    throw new NoSuchMethodException(name);
  }

  private static Set<String> guarded(Class<?> type) {
    Set<String> names = new TreeSet<>();
    MethodIntrospector.selectMethods(
            type,
            (MetadataLookup<Boolean>)
                method -> GuardAnnotations.isGuarded(method, type) ? Boolean.TRUE : null)
        .keySet()
        .forEach(method -> names.add(method.getName()));
    return names;
  }

  static class Above {
    public void inherited() {}
  }

  @MutexGuarded(name = "class")
  static class OnClass extends Above {
    public void plain() {}

    @MutexGuarded(name = "method")
    public void ofItsOwn() {}

    @SemaphoreGuarded(name = "slots")
    public void ofAnotherType() {}

    void notPublic() {}

    public static void ofTheClass() {}
  }

  static class Below extends OnClass {
    @Override
    public void ofItsOwn() {}
  }

  @Test
  void aClassMeansItsPublicMethods() throws NoSuchMethodException {
    assertThat(guarded(OnClass.class))
        .containsExactly("inherited", "ofAnotherType", "ofItsOwn", "plain");
    assertThat(of(OnClass.class, "plain")).containsExactly("mutex 'class'");
    assertThat(of(OnClass.class, "inherited")).containsExactly("mutex 'class'");
  }

  @Test
  void aMethodReplacesItsClassByType() throws NoSuchMethodException {
    assertThat(of(OnClass.class, "ofItsOwn")).containsExactly("mutex 'method'");
    assertThat(of(OnClass.class, "ofAnotherType"))
        .containsExactly("mutex 'class'", "semaphore 'slots'");
  }

  @Test
  void annotationsAreInherited() throws NoSuchMethodException {
    assertThat(of(Below.class, "plain")).containsExactly("mutex 'class'");
    assertThat(of(Below.class, "ofItsOwn")).containsExactly("mutex 'method'");
  }

  interface OnInterface {
    @MutexGuarded(name = "interface")
    void said();
  }

  @SemaphoreGuarded(name = "all")
  interface OnWholeInterface {
    void any();
  }

  static class Says implements OnInterface, OnWholeInterface {
    @Override
    public void said() {}

    @Override
    public void any() {}
  }

  static class SaysOtherwise implements OnInterface {
    @Override
    @MutexGuarded(name = "own")
    public void said() {}
  }

  @Test
  void interfaces() throws NoSuchMethodException {
    assertThat(of(Says.class, "said")).containsExactly("mutex 'interface'", "semaphore 'all'");
    assertThat(of(Says.class, "any")).containsExactly("semaphore 'all'");
    assertThat(of(SaysOtherwise.class, "said")).containsExactly("mutex 'own'");
  }

  @Retention(RetentionPolicy.RUNTIME)
  @Target(ElementType.METHOD)
  @MutexGuarded(name = "once", onBusy = OnBusy.SKIP)
  @interface Once {
    @AliasFor(annotation = MutexGuarded.class, attribute = "key")
    String value();
  }

  static class Composed {
    @Once("#id")
    void change(long id) {}
  }

  @Test
  void otherAnnotations() throws NoSuchMethodException {
    assertThat(methods.of(method(Composed.class, "change"), Composed.class).guards())
        .singleElement()
        .satisfies(
            guard -> {
              assertThat(guard.onBusy()).isEqualTo(OnBusy.SKIP);
              assertThat(guard.described()).isEqualTo("mutex 'once' with the key '#id'");
            });
  }

  static class Repeated {
    @MutexGuarded(name = "b")
    @MutexGuarded(name = "a")
    @SemaphoreGuarded(name = "c", key = "#from")
    @SemaphoreGuarded(name = "c", key = "#to")
    void all(String from, String to) {}
  }

  @Test
  void repeated() throws NoSuchMethodException {
    assertThat(of(Repeated.class, "all"))
        .containsExactlyInAnyOrder("mutex 'a'", "mutex 'b'", "semaphore 'c'", "semaphore 'c'");
  }
}
