package io.amqplocks.spring.autoconfigure;

import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;

/**
 * The names of locks in properties. An environment variable has no dashes and no small letters in
 * its name. So one that overrides a property of {@code image-uploads} reads as one of {@code
 * imageuploads} too. Spring Boot takes the properties of both names for the same, and this takes
 * the two for one lock.
 */
final class ConfiguredNames {

  private ConfiguredNames() {}

  /** What is configured, without the names that another one has only in the form of a variable. */
  static <T> Map<String, T> withoutVariables(Map<String, T> configured) {
    Map<String, T> result = new LinkedHashMap<>(configured);
    configured.forEach(
        (name, value) -> {
          String inVariable = name.replace("-", "").toLowerCase(Locale.ROOT);
          if (!inVariable.equals(name)) {
            result.remove(inVariable, value);
          }
        });
    return result;
  }
}
