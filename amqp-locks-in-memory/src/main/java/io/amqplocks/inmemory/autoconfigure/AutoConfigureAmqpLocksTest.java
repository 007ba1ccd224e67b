package io.amqplocks.inmemory.autoconfigure;

import io.amqplocks.inmemory.InMemoryLocks;
import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.test.context.TestPropertySource;

/**
 * Gives a test locks in memory, and the starter's configuration on them. The test may inject the
 * {@link InMemoryLocks}.
 *
 * <p>A test of one slice of an application, such as {@code @WebMvcTest}, needs it: otherwise the
 * slice leaves the starter out, and annotated methods run without a lock. It configures
 * annotations, {@code LockTemplate}, named locks, web answers and the registry of Spring
 * Integration, but no health, endpoint or metrics. For {@code @SpringBootTest}, which has them all,
 * it does the same as the property {@code amqp-locks.mode=in-memory}.
 *
 * <p>Without the starter on the class path there are the locks and nothing else.
 */
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
@Documented
@Inherited
@ImportAutoConfiguration
@TestPropertySource(properties = {"amqp-locks.enabled=true", "amqp-locks.mode=in-memory"})
public @interface AutoConfigureAmqpLocksTest {}
