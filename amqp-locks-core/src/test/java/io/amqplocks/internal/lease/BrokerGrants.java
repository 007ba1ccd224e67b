package io.amqplocks.internal.lease;

import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.Ticker;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.LockId;
import java.time.Duration;

/** Slots that nobody holds, for tests of what is done with slots. */
@SuppressWarnings("NullAway") // They need no session.
public final class BrokerGrants {

  private BrokerGrants() {}

  /** A slot for fenced leases only, or for others only. */
  public static BrokerGrant of(boolean fenced) {
    LeaseRegistry registry =
        new LeaseRegistry(Duration.ofSeconds(1), Ticker.SYSTEM, null, Runnable::run, null);
    return new BrokerGrant(new NoHold(fenced), null, registry);
  }

  private record NoHold(boolean fenced) implements Hold {
    @Override
    public LockId lock() {
      return LockId.mutex("l");
    }

    @Override
    public int slot() {
      return 1;
    }

    @Override
    public boolean secure(Call call, Session session, Runnable revoked) {
      throw new UnsupportedOperationException();
    }

    @Override
    public HoldStatus status(Call call, Session session) {
      throw new UnsupportedOperationException();
    }

    @Override
    public boolean mayBeHandedTo(boolean toFenced) {
      return fenced == toFenced;
    }

    @Override
    public void release(Call call, Session session) {
      throw new UnsupportedOperationException();
    }

    @Override
    public String queueName() {
      return "none";
    }
  }
}
