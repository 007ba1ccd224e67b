package io.amqplocks.spring;

import java.lang.annotation.Documented;
import java.lang.annotation.ElementType;
import java.lang.annotation.Retention;
import java.lang.annotation.RetentionPolicy;
import java.lang.annotation.Target;

/**
 * Runs the method only in the process that certainly leads. In all other processes a call returns
 * at once, and does nothing. It is for {@code @Scheduled} methods, above all.
 *
 * <pre>{@code
 * @Scheduled(fixedDelay = 1000)
 * @LeaderOnly("feed")
 * void poll()
 * }</pre>
 *
 * <p>The leader is that of the {@link io.amqplocks.leader.LeaderElection} bean, or the {@link
 * io.amqplocks.consumer.SoleConsumer} bean, by a mutex with this name. If there is none, the
 * starter makes an election by {@code locks.mutex(name)}, starts it with the application, and
 * closes it at shutdown before anything else stops. A method that ends after its process stopped
 * leading is not interrupted; for work that takes long, or that must be stopped, give the election
 * a {@linkplain io.amqplocks.leader.LeaderTask task}.
 *
 * <p>On a {@code @RabbitListener} method with an {@code id} and {@code autoStartup = "false"}, the
 * listener's container runs only while this process leads. It is stopped within 0.1 s after doubt,
 * even while another listener of the election blocks; a message that it receives until then is
 * handled. At the end of a term the container waits for its handlers, for its own {@code
 * shutdownTimeout} (5 s by default), before the next process may lead. In a context that is stopped
 * it does not run, even if this process leads. When a context is started again after a stop, Spring
 * starts the container first. Where the process does not lead, it is stopped a moment later, and
 * may have received a message by then.
 *
 * <pre>{@code
 * @RabbitListener(id = "orders", queues = "orders", autoStartup = "false")
 * @LeaderOnly("orders")
 * void book(Order order)
 * }</pre>
 *
 * <p>Only calls through the bean's proxy count, not those of a class to itself, whatever {@code
 * amqp-locks.annotations.mode} says. The start fails if the method is private, static or final, if
 * it is package-private, inherited by a class of another package and no {@code @RabbitListener}, if
 * it returns anything, or if it has the annotation of another kind of listener, whose messages
 * would be lost. Before the application has started, nobody leads.
 *
 * <p>With {@code amqp-locks.enabled=false} the method runs in every process. The container of a
 * listener is not started then.
 */
@Documented
@Retention(RetentionPolicy.RUNTIME)
@Target(ElementType.METHOD)
public @interface LeaderOnly {

  /** The name of the mutex, the same in all processes. Placeholders are resolved. */
  String value();
}
