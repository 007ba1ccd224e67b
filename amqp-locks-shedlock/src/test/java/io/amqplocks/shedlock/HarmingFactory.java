package io.amqplocks.shedlock;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import com.rabbitmq.client.ConnectionFactory;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.util.concurrent.TimeoutException;

/** Connections on which harm is done just before each publish, or each call of another method. */
final class HarmingFactory extends ConnectionFactory {

  /** What happens then. */
  interface Harm {
    void on(Channel channel) throws IOException;
  }

  private final ConnectionFactory real;
  private final String before;
  private final Harm harm;

  HarmingFactory(ConnectionFactory real, Harm harm) {
    this(real, "basicPublish", harm);
  }

  HarmingFactory(ConnectionFactory real, String before, Harm harm) {
    this.real = real;
    this.before = before;
    this.harm = harm;
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
              if (method.getName().equals(before)) {
                harm.on((Channel) wrapped);
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
