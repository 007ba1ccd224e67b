package io.amqplocks.internal.tokens;

import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.Delivery;
import io.amqplocks.internal.session.Session;
import io.amqplocks.lock.FencingToken;
import java.io.IOException;
import java.util.Optional;

/**
 * The token queue of a semaphore.
 *
 * @param queue the name of the queue
 * @param type the type of the queue
 * @param plain whether every message in it is a token
 * @param validTokens the tokens that exist
 */
public record TokenQueueRef(
    String queue, TokenQueueType type, boolean plain, TokenRegister validTokens) {

  /** Tells the tokens of a semaphore from messages that others may have published to its queue. */
  @FunctionalInterface
  public interface TokenRegister {
    /** Accepts every message. */
    TokenRegister ANY = (call, session, token) -> true;

    /**
     * Whether the record names the token. The record is read again if it may be newer than the
     * known version.
     *
     * @param session a session that can read the record
     */
    boolean has(Call call, Session session, TokenContent token);

    /** Whether the fencing token is certainly below those of all tokens that are made later. */
    default boolean isBelowLaterOnes(FencingToken token) {
      return true;
    }
  }

  /** A queue whose tokens are not recorded. */
  public TokenQueueRef(String queue, TokenQueueType type, boolean plain) {
    this(queue, type, plain, TokenRegister.ANY);
  }

  /** The token in a message of that text; empty if the semaphore's record does not name it. */
  Optional<TokenContent> token(Call call, Session session, String text) {
    return TokenContent.parse(text).filter(token -> validTokens.has(call, session, token));
  }

  /**
   * Whether a message with that text may be a token. Whether it is one is for the record to say.
   */
  boolean mayBeToken(String text) {
    return plain || TokenContent.parse(text).isPresent();
  }

  /**
   * Gives a message back that is not wanted here. One that cannot be a token is removed. A quorum
   * queue puts what is given back behind all other messages. So a holder that verifies its token
   * would be sent the stranger's message instead of it, and another client might get the token.
   */
  void putBack(Delivery message) throws IOException {
    if (mayBeToken(message.content())) {
      message.putBack();
    } else {
      StrayMessageLog.SHARED.removed(queue);
      message.remove();
    }
  }

  /** Whether a message with that content is no token and must be removed; logs it. */
  boolean isStray(Optional<TokenContent> content) {
    if (content.isPresent() || plain) {
      return false;
    }
    StrayMessageLog.SHARED.removed(queue);
    return true;
  }

  /**
   * The fencing token of a holder. Empty if the queue does not count, which a quorum queue does, or
   * if the broker has been upgraded since and counts anew, or if the number would be too high.
   *
   * @param returns how often the token was taken and put back before
   * @param brokerMajor the major version of the broker
   */
  Optional<FencingToken> fencingToken(TokenContent token, long returns, int brokerMajor) {
    if (!isQuorum() || token.brokerMajor() != brokerMajor || returns > FencingToken.MAX_N) {
      return Optional.empty();
    }
    return Optional.of(new FencingToken(token.slot(), token.epoch(), returns))
        .filter(validTokens::isBelowLaterOnes);
  }

  boolean isQuorum() {
    return type == TokenQueueType.QUORUM;
  }

  /**
   * Whether the queue is certainly a classic one. The type of a plain queue is the default of its
   * virtual host.
   */
  boolean isClassic() {
    return !plain && type == TokenQueueType.CLASSIC;
  }
}
