package io.amqplocks.spring.autoconfigure;

import io.amqplocks.spring.LockConfigurationException;
import org.springframework.boot.SpringBootVersion;
import org.springframework.context.annotation.ImportSelector;
import org.springframework.core.type.AnnotationMetadata;

/**
 * Stops the start on a Spring Boot before 4.0. There the locks would work, but without health,
 * metrics and endpoint, whose classes were elsewhere. Imports nothing; a selector is asked before
 * any bean is there.
 */
final class RequiredBootVersion implements ImportSelector {

  private static final int OLDEST = 4;

  @Override
  public String[] selectImports(AnnotationMetadata importing) {
    require(SpringBootVersion.getVersion());
    return new String[0];
  }

  /**
   * Does nothing if that version is new enough.
   *
   * @throws LockConfigurationException if it is too old
   */
  static void require(String version) {
    if (Integer.parseInt(version.substring(0, version.indexOf('.'))) < OLDEST) {
      throw new LockConfigurationException(
          "The starter of amqp-locks needs Spring Boot 4.0 or newer, and this application runs on"
              + " Spring Boot %s, where it would have no health, no metrics and no endpoint."
                  .formatted(version),
          "Upgrade the application to Spring Boot 4.0 or newer. Where that cannot be, leave the"
              + " starter out and use amqp-locks-core, which needs no Spring:"
              + " AmqpLocks.builder(connectionFactory).");
    }
  }
}
