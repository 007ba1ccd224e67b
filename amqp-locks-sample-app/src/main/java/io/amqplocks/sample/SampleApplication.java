package io.amqplocks.sample;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.boot.context.properties.ConfigurationPropertiesScan;

/**
 * Runs the roles that the active profiles name: {@code worker}, {@code receiver}, {@code reporter}.
 */
@SpringBootApplication
@ConfigurationPropertiesScan
public class SampleApplication {

  /** Starts the application. */
  public static void main(String[] args) {
    SpringApplication.run(SampleApplication.class, args);
  }
}
