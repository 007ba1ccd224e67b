package io.amqplocks.sample.demo;

import io.amqplocks.test.ChildJvm;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.parallel.ResourceLock;

/** The page where there is a JDK and nothing else: Apache Qpid in the demo's own JVM. */
@Tag("one-jdk")
@ResourceLock("Qpid and its processes") // one at a time, since each starts several JVMs
class DemoPageEmbeddedTest extends PageKeyboardContract {

  private static ChildJvm demo;
  private static String page;

  @BeforeAll
  static void start() {
    demo =
        DemoProgram.anywhere()
            .env("AMQP_LOCKS_BROKER_URI", "")
            .args("--processes", "2", "--broker", "embedded")
            .start();
    demo.awaitLine("Apache Qpid Broker-J ", DemoProgram.AT_MOST);
    page = demo.awaitLine("page: ", DemoProgram.AT_MOST).replace("page: ", "");
  }

  @AfterAll
  static void end() {
    demo.close();
  }

  @Override
  protected String address() {
    return page;
  }
}
