package io.amqplocks.spring.autoconfigure;

import io.amqplocks.spring.internal.time.Durations;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationPropertiesBindHandlerAdvisor;
import org.springframework.boot.context.properties.bind.AbstractBindHandler;
import org.springframework.boot.context.properties.bind.BindContext;
import org.springframework.boot.context.properties.bind.BindHandler;
import org.springframework.boot.context.properties.bind.Bindable;
import org.springframework.boot.context.properties.source.ConfigurationPropertyName;

/**
 * Refuses times without a unit in the properties of the locks, as annotations do. Spring Boot reads
 * such a number as milliseconds, and who writes {@code wait: 30} means seconds.
 */
final class RequiredUnits implements ConfigurationPropertiesBindHandlerAdvisor {

  private static final ConfigurationPropertyName LOCKS = ConfigurationPropertyName.of("amqp-locks");

  @Override
  public BindHandler apply(BindHandler handler) {
    return new AbstractBindHandler(handler) {
      @Override
      public @Nullable Object onSuccess(
          ConfigurationPropertyName name, Bindable<?> target, BindContext context, Object result) {
        if (result instanceof Duration time && !time.isZero() && LOCKS.isAncestorOf(name)) {
          context
              .getBinder()
              .bind(name, Bindable.of(String.class))
              .ifBound(text -> requireUnit(text.strip()));
        }
        return super.onSuccess(name, target, context, result);
      }
    };
  }

  private static void requireUnit(String text) {
    if (Durations.lacksUnit(text)) {
      throw new IllegalArgumentException(
          "'%s' has no unit: write %ss or %sms".formatted(text, text, text));
    }
  }
}
