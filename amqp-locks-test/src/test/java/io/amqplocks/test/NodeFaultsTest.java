package io.amqplocks.test;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** What {@code heal()} undoes, of a node that does what it is asked and then fails. */
class NodeFaultsTest {

  private final Node node = new Node();
  private final NodeFaults faults = new NodeFaults(node);

  private static final class Node implements NodeControl {
    final List<String> asked = new ArrayList<>();
    Predicate<String> failing = expressions -> false;

    @Override
    public String eval(String expressions) {
      asked.add(expressions);
      if (failing.test(expressions)) {
        throw new IllegalStateException("Failed after " + expressions);
      }
      return "";
    }

    @Override
    public boolean running() {
      return true;
    }

    @Override
    public void kill() {}

    @Override
    public void start() {}

    @Override
    public void stop() {}

    @Override
    public void freeze() {}

    @Override
    public void thaw() {}
  }

  private static Stream<Arguments> faults() {
    return Stream.of(
        fault(faults -> faults.suspendQueue("q"), Erlang.fill(Erlang.RESUME_QUEUE, "q")),
        fault(
            faults -> faults.setPolicy("p", "^q$", "queues", "{}"),
            Erlang.fill(Erlang.CLEAR_POLICY, "p")),
        fault(faults -> faults.memoryAlarm(true), Erlang.CLEAR_ALARM),
        fault(faults -> faults.memoryAlarm(false), Erlang.CLEAR_ALARM),
        fault(
            faults -> faults.addUser("u", "secret", "", "", ""),
            Erlang.fill(Erlang.DELETE_USER, "u")),
        fault(
            faults -> faults.setConsumerTimeout(Duration.ofSeconds(1)),
            Erlang.RESET_CONSUMER_TIMEOUT));
  }

  private static Arguments fault(Consumer<BrokerFaults> fault, String undoing) {
    return Arguments.of(fault, undoing);
  }

  /** As when its caller is interrupted while the server does it. */
  @ParameterizedTest
  @MethodSource("faults")
  void aFaultWhoseCallFailedIsUndone(Consumer<BrokerFaults> fault, String undoing) {
    node.failing = expressions -> true;
    assertThatThrownBy(() -> fault.accept(faults)).isInstanceOf(IllegalStateException.class);
    node.failing = expressions -> false;
    node.asked.clear();

    faults.heal();
    assertThat(node.asked).containsExactly(Erlang.fill(undoing));

    faults.heal();
    assertThat(node.asked).hasSize(1);
  }

  @Test
  void whatCannotBeUndoneKeepsNothingElseFromIt() {
    faults.memoryAlarm(true);
    faults.setPolicy("p", "^q$", "queues", "{}");
    faults.addUser("u", "secret", "", "", "");
    String policy = Erlang.fill(Erlang.CLEAR_POLICY, "p");
    String user = Erlang.fill(Erlang.DELETE_USER, "u");
    String alarm = Erlang.fill(Erlang.CLEAR_ALARM);
    node.asked.clear();
    node.failing = expressions -> !expressions.equals(user);

    assertThatThrownBy(faults::heal)
        .hasMessage("Failed after " + alarm)
        .satisfies(
            failed ->
                assertThat(failed.getSuppressed())
                    .singleElement()
                    .extracting(Throwable::getMessage)
                    .isEqualTo("Failed after " + policy));
    assertThat(node.asked).containsExactly(alarm, policy, user);

    node.failing = expressions -> false;
    node.asked.clear();
    faults.heal();
    assertThat(node.asked).containsExactly(alarm, policy);
  }
}
