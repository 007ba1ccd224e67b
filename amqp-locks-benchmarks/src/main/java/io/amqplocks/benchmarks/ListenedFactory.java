package io.amqplocks.benchmarks;

import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.TrafficListener;

/**
 * A factory whose traffic listener stays. Locks copy a factory and remove the listener from the
 * copy, because they share nothing with the application.
 */
final class ListenedFactory extends ConnectionFactory {

  @Override
  public void setTrafficListener(TrafficListener listener) {
    if (!listener.equals(TrafficListener.NO_OP)) {
      super.setTrafficListener(listener);
    }
  }
}
