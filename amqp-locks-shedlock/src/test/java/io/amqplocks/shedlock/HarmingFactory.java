package io.amqplocks.shedlock;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.concurrent.TimeoutException;

/** Connections on which a queue is deleted just before each publish. */
final class DeletingFactory extends ConnectionFactory {

  private final ConnectionFactory real;
  private final String queue;

  DeletingFactory(ConnectionFactory real, String queue) {
    this.real = real;
    this.queue = queue;
  }

  @Override
  public ConnectionFactory clone() {
    return this;
  }

  @Override
  public Connection newConnection(String name) throws IOException, TimeoutException {
    return wrap(Connection.class, real.newConnection(name));
  }

  private <T> T wrap(Class<T> type, T wrapped) {
    return type.cast(
        Proxy.newProxyInstance(
            type.getClassLoader(),
            new Class<?>[] {type},
            (proxy, method, arguments) -> {
              if (method.getName().equals("basicPublish")) {
                ((Channel) wrapped).queueDelete(queue);
              }
              try {
                Object result = method.invoke(wrapped, arguments);
                return result instanceof Channel channel && type == Connection.class
                    ? wrap(Channel.class, channel)
                    : result;
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            }));
  }
}
