package io.amqplocks.internal.tokens;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.session.Session;
import io.amqplocks.internal.tokens.TokenQueueRef.TokenRegister;
import io.amqplocks.lock.FencingToken;
import org.junit.jupiter.api.Test;

class TokenQueueRefTest {

  private static final TokenContent TOKEN = new TokenContent(2, 29_922_510, 4);

  private final TokenQueueRef quorum = new TokenQueueRef("q", TokenQueueType.QUORUM, false);

  @Test
  void aQuorumQueueCounts() {
    assertThat(quorum.fencingToken(TOKEN, 7, 4)).contains(new FencingToken(2, 29_922_510, 7));
    assertThat(quorum.fencingToken(TOKEN, FencingToken.MAX_N, 4)).isPresent();
  }

  @Test
  void thereIsNoFencingTokenThatCannotBeReliedOn() {
    TokenQueueRef classic = new TokenQueueRef("q", TokenQueueType.CLASSIC, false);
    assertThat(classic.fencingToken(TOKEN, 7, 4)).as("counts nothing").isEmpty();
    assertThat(quorum.fencingToken(TOKEN, 7, 5)).as("counts anew").isEmpty();
    assertThat(quorum.fencingToken(TOKEN, FencingToken.MAX_N + 1, 4)).as("used up").isEmpty();
  }

  @Test
  void thereIsNoFencingTokenThatALaterOneMayBeBelow() {
    TokenRegister none =
        new TokenRegister() {
          @Override
          public boolean has(Call call, Session session, TokenContent token) {
            return true;
          }

          @Override
          public boolean isBelowLaterOnes(FencingToken token) {
            return false;
          }
        };
    assertThat(new TokenQueueRef("q", TokenQueueType.QUORUM, false, none).fencingToken(TOKEN, 7, 4))
        .isEmpty();
  }
}
