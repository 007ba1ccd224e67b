package io.amqplocks.spring.internal.leader;

import io.amqplocks.leader.LeaderElection;
import io.amqplocks.spring.LockConfigurationException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import java.util.function.Supplier;
import org.springframework.amqp.rabbit.listener.AbstractMessageListenerContainer;
import org.springframework.amqp.rabbit.listener.ListenerContainerConsumerFailedEvent;
import org.springframework.amqp.rabbit.listener.RabbitListenerEndpointRegistry;
import org.springframework.context.Lifecycle;

/** The containers of {@code @LeaderOnly} listeners. */
final class ListenerContainers {

  private final Supplier<List<RabbitListenerEndpointRegistry>> registries;
  private final BooleanSupplier started;
  private volatile List<ElectedContainer> attached = List.of();

  /** Containers of those registries, in a context that is started or is not. */
  ListenerContainers(
      Supplier<List<RabbitListenerEndpointRegistry>> registries, BooleanSupplier started) {
    this.registries = registries;
    this.started = started;
  }

  /**
   * Lets them run while their process leads. All are found before the first one is attached.
   *
   * @param listeners the names of elections by the ids of listeners
   */
  void attach(Map<String, String> listeners, Function<String, LeaderElection> elections) {
    List<ElectedContainer> found =
        listeners.entrySet().stream()
            .map(
                each ->
                    new ElectedContainer(
                        each.getKey(),
                        container(each.getKey(), each.getValue()),
                        elections.apply(each.getValue()),
                        started))
            .toList();
    found.forEach(ElectedContainer::attach);
    attached = found;
  }

  private Lifecycle container(String id, String name) {
    // Of any type: the interface that the registry returns is another one in Spring AMQP 4.1, and a
    // method reference would name it, so that it could not be linked on 4.0.
    List<Object> registered = new ArrayList<>();
    registries.get().forEach(each -> registered.addAll(each.getListenerContainers()));
    return registered.stream()
        .filter(AbstractMessageListenerContainer.class::isInstance)
        .map(AbstractMessageListenerContainer.class::cast)
        .filter(each -> id.equals(each.getListenerId()))
        .findFirst()
        .orElseThrow(
            () ->
                new LockConfigurationException(
                    "There is no container of the @RabbitListener with the id '%s', which is @LeaderOnly(\"%s\")"
                        .formatted(id, name),
                    "Let @EnableRabbit process it (a child context needs its own), and let the id be its own."));
  }

  /** The elections call them no more. */
  void detach() {
    attached.forEach(ElectedContainer::detach);
  }

  /** A container says so when it stops itself, which nobody else tells its listener. */
  void failed(ListenerContainerConsumerFailedEvent event) {
    if (event.isFatal()) {
      String why = String.valueOf(event.getReason());
      attached.forEach(each -> each.stopsItself(event.getSource(), why));
    }
  }

  /** Starts or stops each, as it should be. To stop one may take seconds. */
  void settle() {
    attached.forEach(ElectedContainer::settle);
  }
}
