package io.amqplocks.internal.tokens;

import io.amqplocks.lock.*;

public record TokenRecord(int generation, TokenQueueType type, int slots) {
  public boolean exists() {
    return slots > 0;
  }
}
