package io.amqplocks.test;

import java.util.List;
import org.junit.jupiter.api.extension.AfterClassTemplateInvocationCallback;
import org.junit.jupiter.api.extension.BeforeClassTemplateInvocationCallback;
import org.junit.jupiter.api.extension.ClassTemplateInvocationContext;
import org.junit.jupiter.api.extension.Extension;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/** One run of a test class, on the broker of one line. */
final class BrokerRun
    implements ClassTemplateInvocationContext,
        BeforeClassTemplateInvocationCallback,
        ParameterResolver,
        AfterClassTemplateInvocationCallback {

  private final SharedBrokers brokers;
  private final ClassBrokers ofClass;
  private final String line;

  BrokerRun(SharedBrokers brokers, ClassBrokers ofClass, String line) {
    this.brokers = brokers;
    this.ofClass = ofClass;
    this.line = line;
  }

  @Override
  public String getDisplayName(int invocationIndex) {
    return brokers.offers().offer(line).orElse("RabbitMQ " + line).strip();
  }

  @Override
  public List<Extension> getAdditionalExtensions() {
    return List.of(this);
  }

  @Override
  public void beforeClassTemplateInvocation(ExtensionContext context) {
    brokers.require(line);
  }

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext context) {
    return parameter.getParameter().getType() == Broker.class
        && !BrokerExtension.aroundRuns(parameter);
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext context) {
    return ofClass.get(line);
  }

  @Override
  public void afterClassTemplateInvocation(ExtensionContext context) {
    ofClass.giveBack(line);
  }
}
