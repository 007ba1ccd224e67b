package io.amqplocks.spring.internal.guard.declared;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

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
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Which values may be keys: those that have the same text wherever they are equal. */
class KeyTextTest {

  record Part(String of, int number, @Nullable Part next) {}

  @SuppressWarnings("ArrayRecordComponent") // what is refused
  record FileId(String name, byte[] digest) {}

  record Copy(int number, FileId of) {}

  record Ids(Set<String> all) {}

  record Price(double amount) {}

  static Stream<Arguments> keys() {
    return Stream.of(
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
        Arguments.of(new Object(), "is a java.lang.Object, whose text differs"));
  }

  @ParameterizedTest
  @MethodSource("others")
  void haveNone(Object key, String why) {
    assertThatIllegalArgumentException()
        .isThrownBy(() -> KeyText.of(key))
        .withMessageContaining(why);
  }
}
