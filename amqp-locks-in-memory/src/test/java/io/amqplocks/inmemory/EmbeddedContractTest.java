package io.amqplocks.inmemory;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockKind;
import io.amqplocks.lock.LockListener;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.lang.reflect.Method;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.InvocationInterceptor;
import org.junit.jupiter.api.extension.ReflectiveInvocationContext;

/** On the broker in the JVM each test passes or ends in a refusal, as CONTRACT says of it. */
@BrokerTest(embedded = true)
@ExtendWith(EmbeddedContractTest.AsThePageSays.class)
class EmbeddedContractTest extends LockContract {

  private final Broker broker;

  EmbeddedContractTest(Broker broker) {
    this.broker = broker;
  }

  @Override
  AmqpLocks create(LockListener listener) {
    return AmqpLocks.builder(broker.connectionFactory()).listener(listener).build();
  }

  @Override
  TokenQueueType tokenQueueType() {
    return TokenQueueType.CLASSIC;
  }

  /** Compares how a test ends with what the page says. */
  static final class AsThePageSays implements InvocationInterceptor {

    @Override
    public void interceptTestMethod(
        Invocation<@Nullable Void> test,
        ReflectiveInvocationContext<Method> called,
        ExtensionContext context)
        throws Throwable {
      compare(test, called);
    }

    @Override
    public void interceptTestTemplateMethod(
        Invocation<@Nullable Void> test,
        ReflectiveInvocationContext<Method> called,
        ExtensionContext context)
        throws Throwable {
      compare(test, called);
    }

    private static void compare(
        Invocation<@Nullable Void> test, ReflectiveInvocationContext<Method> called)
        throws Throwable {
      String end = "passes";
      try {
        test.proceed();
      } catch (Throwable failure) {
        if (!isRefusal(failure)) {
          throw failure;
        }
        end = "refused";
      }
      String says = ContractPageTest.embedded().get(called.getExecutable().getName());
      if ("by kind".equals(says)) {
        LockKind kind = (LockKind) called.getArguments().get(0);
        says = ContractPageTest.kinds().get(kind.name());
      }
      assertThat(end).isEqualTo(says);
    }

    /** An assertion that expected another failure has the refusal in its message only. */
    private static boolean isRefusal(Throwable failure) {
      return failure instanceof LockException.Unsupported
          || failure instanceof LockException.FenceUnavailable
          || (failure instanceof AssertionError
              && String.valueOf(failure.getMessage()).contains("LockException$Unsupported"));
    }
  }
}
