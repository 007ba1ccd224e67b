package io.amqplocks.internal.tokens;

import io.amqplocks.internal.broker.Delivery;
import org.jspecify.annotations.Nullable;

/**
 * The whole state of a {@link HeldToken}. Each change is a pure function. A change that does not
 * apply to a state leaves it as it is.
 *
 * @param phase the phase
 * @param receiver the receiver that has the message or will receive it
 * @param message the message that arrived there
 * @param former the former receiver with its message, if that was not given back yet
 * @param doubtful whether another message came for the one that was given back, which another
 *     client may have by now
 */
record TokenState(
    Phase phase,
    TokenReceiver receiver,
    @Nullable Delivery message,
    @Nullable ReceivedMessage former,
    boolean doubtful) {

  /** The phases of a token. */
  enum Phase {
    /** The message has not arrived yet. */
    WAITING,
    /** The message is here: the token is held. */
    HERE,
    /** The message was given back for verification and is expected again. */
    RETURNED,
    /** The token is no longer wanted; arriving messages go back. */
    LEFT,
    /** The broker took it away. */
    GONE;

    boolean isFinal() {
      return this == LEFT || this == GONE;
    }
  }

  /** A message, and the receiver at which it arrived. */
  record ReceivedMessage(TokenReceiver receiver, Delivery message) {}

  /** Whether the next message is to arrive at the given receiver. */
  boolean awaits(TokenReceiver into) {
    return (phase == Phase.WAITING || phase == Phase.RETURNED) && receiver.equals(into);
  }

  /** Whether the token was given back, and nothing has come since. */
  boolean isGivenBack() {
    return phase == Phase.RETURNED && former == null;
  }

  TokenState came(TokenReceiver into, Delivery next, boolean isOther) {
    return awaits(into)
        ? new TokenState(
            Phase.HERE, receiver, next, former, doubtful || (isOther && former == null))
        : this;
  }

  /**
   * The state before the message is given back, so that the next one arrives at the given
   * receiver.
   */
  TokenState returned(TokenReceiver next) {
    if (phase != Phase.HERE || message == null) {
      return this;
    }
    boolean same = receiver.equals(next);
    return new TokenState(
        Phase.RETURNED,
        next,
        null,
        same ? former : new ReceivedMessage(receiver, message),
        doubtful);
  }

  /**
   * The state if nothing arrives at the given receiver. The former receiver still has its
   * message.
   */
  TokenState reverted(TokenReceiver failed) {
    return phase == Phase.RETURNED && receiver.equals(failed) && former != null
        ? new TokenState(Phase.HERE, former.receiver, former.message, null, doubtful)
        : this;
  }

  /** The state if what arrives is not wanted. The former receiver still has its message. */
  TokenState declined() {
    return !phase.isFinal() && former != null
        ? new TokenState(Phase.HERE, former.receiver, former.message, null, doubtful)
        : this;
  }

  /** The message that is here may stand for the token. */
  TokenState approved() {
    return new TokenState(phase, receiver, message, former, false);
  }

  TokenState withoutFormer() {
    return new TokenState(phase, receiver, message, null, doubtful);
  }

  /** The state without the former message, if nothing came instead of it. */
  TokenState withoutFormerUnlessCame() {
    return phase == Phase.RETURNED && message == null ? withoutFormer() : this;
  }

  TokenState ended(Phase end) {
    return phase.isFinal() ? this : new TokenState(end, receiver, message, former, doubtful);
  }
}
