package io.amqplocks.tokens;

import com.rabbitmq.client.Channel;
import com.rabbitmq.client.Connection;
import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenAudit;
import io.amqplocks.admin.TokenSemaphoreAdmin;
import io.amqplocks.lock.LockId;
import io.amqplocks.support.Fixture;
import io.amqplocks.support.Tokens;
import io.amqplocks.test.Broker;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A token semaphore under administration, with a stranger who may hold some of it. */
abstract class TokenAdministered {

  static final LockId ID = LockId.tokenSemaphore("s");

  Broker broker;
  @RegisterExtension final Fixture fixture = new Fixture();
  AmqpLocks locks;
  TokenSemaphoreAdmin admin;
  Connection stranger;
  Channel holder;
  private int first;

  @BeforeEach
  void open(Broker given) throws Exception {
    broker = given;
    locks = fixture.open(fixture.builder().connectionName(fixture.prefix()));
    admin = locks.admin().tokenSemaphore("s");
    stranger = fixture.stranger();
    holder = stranger.createChannel();
  }

  @AfterEach
  void close() throws Exception {
    stranger.close();
    broker.faults().heal();
  }

  /** The queues of the semaphore, in the order in which they were made; the first must be there. */
  String tokens(int number) {
    first = first > 0 ? first : Tokens.generation(broker, fixture.names(), ID);
    return fixture.names().tokens(ID, first + number - 1);
  }

  static TokenAudit clean(int slots) {
    return new TokenAudit(slots, slots, 0, 0, Set.of(), false);
  }
}
