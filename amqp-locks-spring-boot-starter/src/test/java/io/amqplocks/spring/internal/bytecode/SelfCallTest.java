package io.amqplocks.spring.internal.bytecode;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Proxy;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Which calls on {@code this} the bytecode shows. */
class SelfCallTest {

  private static List<String> calls(Class<?> type) {
    return SelfCall.in(type).stream()
        .filter(call -> call.name().startsWith("work"))
        .map(call -> call.caller() + " > " + call.name() + call.descriptor())
        .collect(Collectors.toList());
  }

  static class Calls {
    private long wide = 3;
    int sum;

    Calls() {
      work();
    }

    void work() {}

    int work(long size, String text, double[] more) {
      return (int) size + text.length() + more.length;
    }

    void plain() {
      this.work();
    }

    /** All kinds of instructions between the object and its call. */
    int withArguments(boolean one, @Nullable Object any, int @Nullable [] numbers) {
      double[][] table = new double[2][3];
      table[0][1] = wide / 2.0 + (float) wide;
      int[] filled = {1, 2, 3};
      filled[1] += (int) (wide << 2) ^ ~filled[0];
      sum += filled.length;
      long next = one && any instanceof String ? wide++ > 2 ? -wide : 7L : Long.compare(wide, 2);
      return work(
          one ? next : (long) table[1][0],
          switch (filled[0]) {
            case 1 -> any == null ? "none" : any.toString();
            case 2 -> "two" + one + next;
            default -> numbers == null ? "no" : String.valueOf(numbers[0]);
          },
          new double[] {next, table[0][0], one ? 1 : 2.5});
    }

    void inLambda(List<String> all) {
      all.forEach(each -> work());
    }

    void inLambdaOfALambda(List<List<String>> all) {
      all.forEach(each -> each.forEach(text -> work(text.length(), text, new double[0])));
    }

    void byReference(List<Runnable> into) {
      into.add(this::work);
    }

    void inTry() {
      try {
        plain();
      } catch (IllegalStateException e) {
        work();
      } finally {
        sum++;
      }
    }
  }

  @Test
  void onTheObjectItself() {
    String withArguments = "work(JLjava/lang/String;[D)I";
    assertThat(calls(Calls.class))
        .containsExactlyInAnyOrder(
            "<init> > work()V",
            "plain > work()V",
            "withArguments > " + withArguments,
            "inLambda > work()V",
            "inLambdaOfALambda > " + withArguments,
            "byReference > work()V",
            "inTry > work()V");
  }

  static class Others {
    private final Others other;

    Others(Others other) {
      this.other = other;
    }

    void work() {}

    Others workOn(Others given) {
      return given;
    }

    void calls(Others given, List<Others> all, boolean one) {
      given.work();
      other.work();
      this.other.other.work();
      (one ? this : given).work();
      all.forEach(Others::work);
      all.forEach(each -> each.work());
      Runnable reference = given::work;
      reference.run();
      for (Others each : all) {
        each.work();
      }
      new Others(this).work();
      Supplier<Others> supplier = () -> given;
      supplier.get().work();
    }

    static void ofClass(Others first) {
      first.work();
    }
  }

  @Test
  void notOnOthersOfTheClass() {
    assertThat(calls(Others.class)).isEmpty();
  }

  interface WithDefault {
    void work();

    default void all() {
      work();
    }
  }

  abstract static class Above {
    abstract void workAbove();

    void run() {
      workAbove();
    }

    void overridden() {
      workAbove();
      Runnable inLambda = () -> workAbove();
      inLambda.run();
    }
  }

  static class Below extends Above implements WithDefault {
    @Override
    void workAbove() {}

    @Override
    void overridden() {}

    @Override
    public void work() {}
  }

  static class Super extends Below {
    @Override
    public void work() {
      super.work();
    }
  }

  @Test
  void inClassesAboveAndInterfaces() {
    assertThat(calls(Below.class)).containsExactlyInAnyOrder("run > workAbove()V", "all > work()V");
    assertThat(calls(Super.class))
        .as("a call by super goes to another method")
        .containsExactlyInAnyOrder("run > workAbove()V", "all > work()V");
  }

  @Test
  void nothingWhereThereIsNoBytecode() {
    Object proxy =
        Proxy.newProxyInstance(
            getClass().getClassLoader(),
            new Class<?>[] {Runnable.class},
            (self, method, arguments) -> null);
    Runnable lambda = this::nothingWhereThereIsNoBytecode;
    assertThat(SelfCall.in(proxy.getClass())).isEmpty();
    assertThat(SelfCall.in(lambda.getClass())).isEmpty();
    assertThat(SelfCall.in(int[].class)).isEmpty();
  }
}
