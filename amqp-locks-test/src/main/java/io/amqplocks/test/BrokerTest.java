package io.amqplocks.test;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Inherited;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;
import org.junit.jupiter.api.ClassTemplate;
import org.junit.jupiter.api.extension.ExtendWith;

/**
 * Runs a test class on real brokers: on one of the preferred release line, or once on each line
 * wanted. Parameters of type {@link Broker} are filled in, in constructors, test methods and
 * lifecycle methods. (Not in {@code @BeforeAll} and {@code @AfterAll} of a class that runs on
 * several lines: JUnit calls these once around all of its runs.)
 *
 * <pre>{@code
 * @BrokerTest(everyLine = true, ownBroker = true)
 * class OrdersTest {
 *   @Test
 *   void survivesTheBroker(Broker broker) {
 *     broker.faults().kill();
 *     broker.faults().start();
 *   }
 * }
 * }</pre>
 *
 * <p>{@link Brokers} says where brokers come from and which lines are wanted. Each line's broker is
 * started when it is first used, and shared by all test classes of the JVM: use names of your own
 * for queues, policies and users. Test classes may run in parallel, and so may the tests of a class
 * if none of them hurts the broker. A class that hurts the broker as a whole, or counts all there
 * is in it, asks for a broker of its own by {@link #ownBroker()}; a shared one refuses such faults.
 * After a class every fault that it left in force is undone, see {@link BrokerFaults#heal()}.
 *
 * <p>A line that is wanted but not there is reported as skipped, with the reason, or as an error if
 * the environment variable {@code AMQP_LOCKS_BROKER_REQUIRED} is {@code true}. The annotation is
 * inherited, and holds for nested classes.
 */
@Documented
@Inherited
@ClassTemplate
@ExtendWith(BrokerExtension.class)
@Target(ElementType.TYPE)
@Retention(RetentionPolicy.RUNTIME)
public @interface BrokerTest {

  /**
   * Whether to run on every line wanted, not only on the preferred one. {@code
   * AMQP_LOCKS_BROKER_TURN} may share them among several runs of the suite, see {@link Brokers}.
   */
  boolean everyLine() default false;

  /**
   * The first line that the class is for, such as {@code 4.0}; empty if there is none. On lines
   * that it is not for, it does not run, and nothing is reported as skipped.
   */
  String from() default "";

  /**
   * The first line that the class is not for any more, such as {@code 4.3}; empty if there is none.
   */
  String before() default "";

  /**
   * Whether the class runs on the broker in this JVM ({@link Brokers#EMBEDDED}), and on it alone.
   * Nobody can hurt that one, or look into it.
   */
  boolean embedded() default false;

  /**
   * Whether each run of the class has a broker to itself while it lasts: for a class that hurts its
   * broker, changes it as a whole, or counts all there is in it. Such a broker goes on to the next
   * class that asks for one: queues that a class leaves behind may still be there.
   */
  boolean ownBroker() default false;
}
