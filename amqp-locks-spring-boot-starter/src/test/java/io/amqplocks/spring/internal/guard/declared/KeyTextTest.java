package io.amqplocks.spring.internal.guard.declared;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.reflect.Proxy;
import java.net.InetAddress;
import java.nio.file.Path;
import java.sql.Timestamp;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Calendar;
import java.util.Date;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.aop.framework.ProxyFactory;

/** Which values may be keys: those that have the same text wherever they are equal. */
class KeyTextTest {

  record Part(String of, int number, @Nullable Part next) {}

  @SuppressWarnings("ArrayRecordComponent") // what is refused
  record FileId(String name, byte[] digest) {}

  record Copy(int number, FileId of) {}

  record Ids(Set<String> all) {}

  record Price(double amount) {}

  static class Customer {}

  /** As those of Hibernate, and of whoever hands a call on. */
  static class LazyCustomer extends Customer {
    private final Object target;

    LazyCustomer(Object target) {
      this.target = target;
    }

    @Override
    public String toString() {
      return target.toString();
    }
  }

  static class VipCustomer extends Customer {}

  static class NamedCustomer extends Customer {
    @Override
    public String toString() {
      return "a@b";
    }
  }

  /** What only looks like that of an object, also with the name of a class that has a text. */
  record Address(String text) {
    @Override
    public String toString() {
      return text;
    }
  }

  interface Party {}

  private static Object jdkProxy(Object target) {
    return Proxy.newProxyInstance(
        Party.class.getClassLoader(),
        new Class<?>[] {Party.class},
        (proxy, method, arguments) -> method.invoke(target, arguments));
  }

  private static Object classProxy(Object target) {
    ProxyFactory proxies = new ProxyFactory(target);
    proxies.setProxyTargetClass(true);
    return proxies.getProxy();
  }

  static Stream<Arguments> keys() {
    return Stream.of(
        Arguments.of(classProxy(new NamedCustomer()), "a@b"),
        Arguments.of(jdkProxy(new NamedCustomer()), "a@b"),
        Arguments.of(new LazyCustomer(new NamedCustomer()), "a@b"),
        Arguments.of(new Address("com.acme.Customer@1f"), "com.acme.Customer@1f"),
        Arguments.of(
            new Address(NamedCustomer.class.getName() + "@1f"),
            NamedCustomer.class.getName() + "@1f"),
        Arguments.of("java.lang.Object@1f", "java.lang.Object@1f"),
        Arguments.of("a", "a"),
        Arguments.of(42L, "42"),
        Arguments.of(Optional.of(List.of(1)), "[1]"),
        Arguments.of(Path.of("a", "b"), Path.of("a", "b").toString()),
        Arguments.of(List.of("b", "a"), "[b, a]"),
        Arguments.of(List.of(List.of(1, 2), new int[] {3}), "[[1, 2], [3]]"),
        Arguments.of(new String[] {"b", "a"}, "[b, a]"),
        Arguments.of(new Part("a", 1, null), "Part[of=a, number=1, next=null]"),
        Arguments.of(new TreeSet<>(List.of("b", "a")), "[a, b]"));
  }

  @ParameterizedTest
  @MethodSource("keys")
  void haveOneText(Object key, String text) {
    assertThat(KeyText.of(key)).isEqualTo(text);
  }

  @SuppressWarnings("JavaUtilDate") // what is refused
  static Stream<Arguments> others() {
    return Stream.of(
        Arguments.of(
            new HashSet<>(Set.of("a")), "is a java.util.HashSet, which equal ones need not"),
        Arguments.of(Set.of("a"), "iterate over in the same order: use a List or a SortedSet"),
        // In the order of insertion, which is not part of what makes two equal.
        Arguments.of(new LinkedHashSet<>(List.of("a")), "is a java.util.LinkedHashSet, which"),
        Arguments.of(new ArrayDeque<>(List.of("a")), "is a java.util.ArrayDeque, which"),
        Arguments.of(new HashMap<>(Map.of("a", 1)), "is a java.util.HashMap, which"),
        Arguments.of(new TreeMap<>(Map.of("a", 1)), "is a java.util.TreeMap, which"),
        Arguments.of(new HashMap<>(Map.of("a", 1)).values(), "which equal ones need not"),
        // 1.9999999999999998E23 with JDK 17, and 2.0E23 with 25.
        Arguments.of(2e23, "is a java.lang.Double, whose text changed with JDK 19"),
        // Equal ones have another text in another time zone, or if found by another way.
        Arguments.of(new Date(0), "is a java.util.Date, whose text depends on the time zone"),
        Arguments.of(new Timestamp(0), "is a java.sql.Timestamp, whose text depends on the time"),
        Arguments.of(Calendar.getInstance(), "Calendar, whose text depends on the time zone"),
        Arguments.of(
            InetAddress.getLoopbackAddress(), "is a java.net.Inet4Address, whose text depends"),
        // A record's text has the array's identity, or the order of a set in this process.
        Arguments.of(new FileId("a", new byte[] {1}), "of its component 'digest' may differ"),
        Arguments.of(new Copy(1, new FileId("a", new byte[0])), "of its component 'of' may differ"),
        Arguments.of(new Ids(Set.of("a")), "of its component 'all' may differ"),
        Arguments.of(List.of(new Price(2e23)), "of its component 'amount' may differ"),
        Arguments.of(new float[] {1}, "has an element that is a java.lang.Float"),
        Arguments.of(List.of(Set.of("a")), "has an element that is a"),
        Arguments.of(new Object[] {List.of(new Object())}, "whose text differs from object"),
        Arguments.of(Arrays.asList("a", null), "has an element that is null"),
        Arguments.of(Optional.empty(), "is null"),
        Arguments.of(new Object(), "is a java.lang.Object, whose text differs"),
        // They have a toString(), which is that of another object.
        Arguments.of(classProxy(new Customer()), "Customer$$SpringCGLIB$$0, whose text differs"),
        Arguments.of(jdkProxy(new Customer()), "whose text differs from object to object"),
        Arguments.of(jdkProxy((Runnable) () -> {}), "whose text differs from object to object"),
        Arguments.of(new LazyCustomer(new Customer()), "LazyCustomer, whose text differs"),
        Arguments.of(new LazyCustomer(new VipCustomer()), "LazyCustomer, whose text differs"),
        Arguments.of(new LazyCustomer(new byte[0]), "LazyCustomer, whose text differs"),
        Arguments.of(new AtomicReference<>(new Customer()), "AtomicReference, whose text differs"));
  }

  @ParameterizedTest
  @MethodSource("others")
  void haveNone(Object key, String why) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> KeyText.of(key))
        .withMessageContaining(why);
  }
}
