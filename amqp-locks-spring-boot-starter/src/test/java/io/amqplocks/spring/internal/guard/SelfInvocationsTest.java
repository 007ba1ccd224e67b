package io.amqplocks.spring.internal.guard;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.spring.Contexts;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.ReadGuarded;
import io.amqplocks.spring.WriteGuarded;
import java.util.List;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.parallel.Isolated;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** Calls that do not go through the proxy are told at startup. */
@Isolated("its output is captured")
@ExtendWith(OutputCaptureExtension.class)
class SelfInvocationsTest {

  static class Uploads {
    @MutexGuarded(name = "m")
    public void upload(String image) {}

    public void uploadAll(List<String> images) {
      images.forEach(image -> upload(image));
    }

    public void uploadOn(Uploads other) {
      other.upload("image");
    }
  }

  @MutexGuarded(name = "m")
  static class AllGuarded {
    public void one() {}

    public void all() {
      one();
    }
  }

  @ReadGuarded(name = "m")
  static class Reading {
    public void read() {}

    public void readByWriting() {
      write();
    }

    @WriteGuarded(name = "m")
    public void write() {
      read();
    }
  }

  static class OtherKey {
    @MutexGuarded(name = "m", key = "#id")
    public void one(int id) {}

    @MutexGuarded(name = "m", key = "#id")
    public void next(int id) {
      one(id + 1);
    }
  }

  static class Overloads {
    public void run() {
      run("all");
    }

    public void inLambda(List<String> names) {
      names.forEach(name -> run(name));
    }

    @MutexGuarded(name = "m")
    public void inLambda(String name) {
      List.of(name).forEach(each -> List.of(each).forEach(this::run));
    }

    @MutexGuarded(name = "m")
    public void run(String name) {}
  }

  private static <T> void start(Class<T> type, Supplier<T> bean) {
    Contexts.withoutBroker()
        .withBean("first", type, bean)
        .withBean("second", type, bean)
        .run(context -> assertThat(context).hasNotFailed());
  }

  @Test
  void namesBothMethodsAndTheRemedies(CapturedOutput output) {
    start(Uploads.class, Uploads::new);
    assertThat(output)
        .containsOnlyOnce(
            Uploads.class.getName()
                + ".uploadAll() calls upload() on the same object. That does not go through the proxy, so the"
                + " call runs without the mutex 'm'. Move one of the two methods to another bean, use"
                + " LockTemplate for the call, or guard such calls too by"
                + " amqp-locks.annotations.mode=aspectj")
        .doesNotContain("uploadOn() calls");
  }

  @Test
  void aCallerThatHoldsTheLockIsNoneToTell(CapturedOutput output) {
    start(AllGuarded.class, AllGuarded::new);
    assertThat(output).doesNotContain("on the same object");
  }

  @Test
  void aWriterMayReadButNoReaderWrite(CapturedOutput output) {
    start(Reading.class, Reading::new);
    assertThat(output)
        .containsOnlyOnce("readByWriting() calls write() on the same object")
        .doesNotContain("write() calls read()");
  }

  @Test
  void anOverloadOfTheCallerIsNotTheCaller(CapturedOutput output) {
    start(Overloads.class, Overloads::new);
    assertThat(output)
        .containsOnlyOnce(Overloads.class.getName() + ".run() calls run(String) on the same object")
        .containsOnlyOnce(Overloads.class.getName() + ".inLambda() calls run() on the same object");
  }

  @Test
  void exceptByAnotherKey(CapturedOutput output) {
    start(OtherKey.class, OtherKey::new);
    assertThat(output)
        .contains("next() calls one() on the same object")
        .contains("with the key '#id'");
  }
}
