import org.jspecify.annotations.NullMarked;

/** Distributed locks on RabbitMQ. Packages that are not exported are internal. */
// The client library has no descriptor of its own yet, only a name.
@SuppressWarnings({"requires-automatic", "requires-transitive-automatic"})
@NullMarked
module io.amqplocks.core {
  requires transitive com.rabbitmq.client;
  requires org.slf4j;
  requires static transitive org.jspecify;

  exports io.amqplocks;
  exports io.amqplocks.admin;
  exports io.amqplocks.consumer;
  exports io.amqplocks.leader;
  exports io.amqplocks.lock;
}
