package io.amqplocks.internal.broker;

import com.rabbitmq.client.ConnectionFactory;
import com.rabbitmq.client.SocketConfigurator;
import com.rabbitmq.client.SslEngineConfigurator;
import com.rabbitmq.client.TrafficListener;
import io.amqplocks.lock.LockException;
import java.io.IOException;
import java.security.NoSuchAlgorithmException;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;
import javax.net.ssl.SSLParameters;
import javax.net.ssl.SSLSocket;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives the connections of a copied factory threads of their own.
 *
 * <p>A listener of the application that blocks would otherwise hold up an I/O loop (NIO, Netty), a
 * heartbeat or a shutdown that its connections share with ours. A copy also shares the loop's
 * settings with a factory that has connected before, so that a timeout set in the copy would have
 * no effect.
 */
public final class OwnThreads {

  private static final Logger log = LoggerFactory.getLogger(OwnThreads.class);

  private OwnThreads() {}

  /** Has each connection of that factory use a reading thread and a heartbeat of its own. */
  public static void give(ConnectionFactory factory) {
    factory.setSocketConfigurator(factory.getSocketConfigurator().andThen(hostCheckOfNio(factory)));
    useBlockingIo(factory);
    factory.setSharedExecutor(null);
    factory.setShutdownExecutor(null);
    factory.setHeartbeatExecutor(null);
    factory.setTopologyRecoveryExecutor(null);
    factory.setTrafficListener(TrafficListener.NO_OP);
    factory.setErrorOnWriteListener(null);
  }

  /**
   * Calls the method by its name: in some versions of the client it returns nothing, in others the
   * factory.
   */
  private static void useBlockingIo(ConnectionFactory factory) {
    try {
      Object unused = ConnectionFactory.class.getMethod("useBlockingIo").invoke(factory);
    } catch (NoSuchMethodException e) {
      log.debug("This version of the client knows no other than blocking I/O");
    } catch (ReflectiveOperationException e) {
      throw new LockException.Invalid(
          "The connection factory cannot be used with blocking I/O: " + e.getCause());
    }
  }

  /** Keeps the host check of factories that configured it for NIO only. */
  @SuppressWarnings({"deprecation", "removal"})
  private static SocketConfigurator hostCheckOfNio(ConnectionFactory factory) {
    SslEngineConfigurator nio = factory.getNioParams().getSslEngineConfigurator();
    return socket -> {
      if (nio != null && socket instanceof SSLSocket tls) {
        SSLEngine engine = engine();
        nio.configure(engine);
        String check = engine.getSSLParameters().getEndpointIdentificationAlgorithm();
        if (check != null) {
          SSLParameters parameters = tls.getSSLParameters();
          parameters.setEndpointIdentificationAlgorithm(check);
          tls.setSSLParameters(parameters);
        }
      }
    };
  }

  private static SSLEngine engine() throws IOException {
    try {
      return SSLContext.getDefault().createSSLEngine();
    } catch (NoSuchAlgorithmException e) {
      throw new IOException("this Java has no TLS", e);
    }
  }
}
