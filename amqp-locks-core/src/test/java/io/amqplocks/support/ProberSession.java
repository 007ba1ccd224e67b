package io.amqplocks.support;

import com.rabbitmq.client.Address;
import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.internal.broker.AuxiliaryConnection;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.Connector;
import io.amqplocks.internal.broker.Ticker;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.session.Sessions;
import io.amqplocks.lock.LockId;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Executor;

/** A session without locks, to ask by. */
public final class ProberSession implements AutoCloseable {

  private final Duration callTimeout;
  private final Sessions sessions;

  /** Its connections are called {@code NAME holder} and {@code NAME prober}. */
  public ProberSession(ConnectionFactory factory, String name, Duration callTimeout) {
    this.callTimeout = callTimeout;
    Executor background = Runnable::run;
    sessions =
        new Sessions(
            new Connector(
                factory,
                List.of(new Address(factory.getHost(), factory.getPort())),
                name,
                Duration.ofSeconds(10),
                callTimeout,
                Thread::new),
            "holder",
            background,
            Thread::new,
            callTimeout,
            Ticker.SYSTEM,
            session -> {});
  }

  public Call call() {
    return call(callTimeout);
  }

  public Call call(Duration bound) {
    return Call.on(LockId.slotSemaphore("s"), bound, Ticker.SYSTEM);
  }

  public Session session() {
    return sessions.current(call());
  }

  public AuxiliaryConnection prober() {
    return session().prober();
  }

  @Override
  public void close() {
    sessions.close();
  }
}
