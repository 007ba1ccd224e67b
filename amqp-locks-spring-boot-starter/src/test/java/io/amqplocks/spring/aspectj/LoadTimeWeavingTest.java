package io.amqplocks.spring.aspectj;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.spring.aspectj.woven.TransactionApplication;
import io.amqplocks.spring.aspectj.woven.WovenApplication;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.ChildJvm;
import io.amqplocks.test.ChildJvmBuilder;
import java.io.File;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Woven by the agent when classes are loaded. */
@Tag("one-jdk")
@BrokerTest
class LoadTimeWeavingTest extends WeavingContract {

  LoadTimeWeavingTest(Broker broker) {
    super(broker);
  }

  @Override
  ChildJvmBuilder application() {
    return agent(WovenApplication.class);
  }

  private static ChildJvmBuilder agent(Class<?> program) {
    return ChildJvm.of(program).jvmArgs("-javaagent:" + weaver("aspectjweaver"));
  }

  @Test
  void theLockIsOutsideWovenTransactions() {
    String classPath = weaver("spring-aspects") + File.pathSeparator;
    try (ChildJvm child =
        agent(TransactionApplication.class)
            .env("CLASSPATH", classPath + System.getProperty("java.class.path"))
            .args(onBroker.properties())
            .start()) {
      child.awaitLine("done", LONG);
      assertThat(child.lines())
          .startsWith("commit=held", "book=true held", "commit=held", "later=held");
    }
  }
}
