package io.amqplocks.lines.woven;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.context.annotation.Bean;

/** An application whose guarded methods no proxy could guard. */
@SpringBootApplication(proxyBeanMethods = false)
public class WovenApplication {

  /** Runs it. */
  public static void main(String[] args) {
    SpringApplication.run(WovenApplication.class, args);
  }

  @Bean
  Uploads uploads() {
    return new Uploads();
  }
}
