package io.amqplocks.spring.aspectj;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.spring.LocksOnBroker;
import io.amqplocks.test.Broker;
import io.amqplocks.test.ChildJvm;
import io.amqplocks.test.ChildJvmBuilder;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;

/** What a woven application does, in a process of its own, however it was woven. */
abstract class WeavingContract {

  static final Duration LONG = Duration.ofMinutes(3);

  @AutoClose final LocksOnBroker onBroker;

  WeavingContract(Broker broker) {
    onBroker = new LocksOnBroker(broker);
  }

  /** The jars of AspectJ that the build has copied. */
  static Path weaver(String name) {
    Path jar = Path.of("target", "weavers", name + ".jar").toAbsolutePath();
    assertThat(jar).as("copied by the build").exists();
    return jar;
  }

  abstract ChildJvmBuilder application() throws IOException;

  @Test
  void guardsAllCallsAndOnlyOnce() throws IOException {
    try (ChildJvm child = application().args(onBroker.properties()).start()) {
      assertThat(child.awaitLine("inside=", LONG)).isEqualTo("inside=2");
      onBroker.awaitInUse(2);
      child.send("go on");
      child.awaitLine("done", LONG);
      assertThat(child.lines())
          .contains(
              "postConstruct=held",
              "private=held",
              "static=held",
              "other annotation=held",
              "reader and writer=held held",
              "keyed=held unguarded",
              "stage=held",
              "mono=held",
              "new=held",
              "final class=held",
              "class=held",
              "CGLIB proxy=held",
              "JDK proxy=held",
              "of an interface=held",
              "of a superclass=held, held",
              "busy=fallback",
              "guarded fallback=held later",
              "guarded fallback that fails=failed later",
              "static fallback=held later",
              "not as a fallback=held later")
          .anyMatch(line -> line.matches("called directly=.* c[ao]me free within .*"))
          .anyMatch(line -> line.matches("injected=token .+"))
          .contains("async=async held", "async by itself=same held")
          .contains("overriding=super of me held", "unannotated=unguarded, super held");
      assertContexts(child.lines());
      assertErrors(child.lines());
    }
  }

  private static void assertContexts(List<String> lines) {
    assertThat(lines)
        .contains(
            "bean of the first=held",
            "bean of the second=unguarded", // its mutex has another name
            "new while both are open=unguarded",
            "new when the second is closed=held")
        .contains("proxy=held", "proxy by itself=unguarded", "later context=true")
        .contains("disabled=unguarded", "switched off=unguarded");
  }

  private static void assertErrors(List<String> lines) {
    String work = "io.amqplocks.spring.aspectj.woven.OtherWork$";
    assertThat(lines)
        .anyMatch(
            line -> line.startsWith("before=" + work + "Plain.work() is guarded by a lock, and no"))
        .anyMatch(
            line -> line.startsWith("after=" + work + "Plain.work() is guarded by a lock, and no"))
        .anyMatch(
            line ->
                line.startsWith(
                        "bean of a closed one=" + work + "Plain.work() is guarded by a lock")
                    && line.contains("is closed"))
        .anyMatch(
            line ->
                line.startsWith("not inherited=amqp-locks.annotations.mode is aspectj")
                    && line.contains(work + "Unannotated.work(String): its class is not woven, or")
                    && line.contains("-javaagent"))
        .anyMatch(
            line ->
                line.startsWith("overload=amqp-locks.annotations.mode is aspectj")
                    && line.contains(work + "Overloaded.work(String): its class is not woven, or")
                    && !line.contains("work(int)"))
        .anyMatch(
            line ->
                line.startsWith("future=" + work + "Returning.work() cannot be guarded")
                    && line.contains("it returns Future"))
        .anyMatch(
            line ->
                line.startsWith("destroy=" + work + "Destroyed.end() cannot be guarded")
                    && line.contains("when the locks are closed"));
  }
}
