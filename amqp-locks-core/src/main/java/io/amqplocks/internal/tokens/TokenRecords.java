package io.amqplocks.internal.tokens;

import io.amqplocks.internal.session.*;
import io.amqplocks.internal.topology.QueueNames;
import io.amqplocks.lock.*;
import java.util.Optional;

public record TokenRecords(QueueNames names) {
  public Optional<TokenRecord> read(Call c, Session s, LockId l) {
    return Optional.empty();
  }
}
