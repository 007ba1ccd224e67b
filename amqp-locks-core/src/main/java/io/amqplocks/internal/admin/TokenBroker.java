package io.amqplocks.internal.admin;

import io.amqplocks.internal.session.MessageHand.Message;
import io.amqplocks.internal.tokens.TokenContent;
import io.amqplocks.internal.tokens.TokenRecord;
import io.amqplocks.lock.TokenQueueType;
import java.util.Collection;
import java.util.List;
import java.util.OptionalInt;

/**
 * What an administrator of one token semaphore can do at the broker while it has the turn. Each step is
 * done when its method returns; one that throws may have been done, or be half done.
 */
interface TokenBroker {

  /** The record as it stands; a blank one if there never was any. */
  TokenRecord record();

  /** Writes the next version of the record. */
  void write(TokenRecord next);

  /** Deletes the record, with all that is remembered of the semaphore. */
  void forget();

  /** The first number of the broker's version. */
  int brokerMajor();

  /** Whether the broker's queues of that type do with tokens what they should; throws if not. */
  void tryOut(TokenQueueType type);

  /** How many tokens wait in the queue of that generation; empty if there is none. */
  OptionalInt idle(int generation);

  /** Declares the queue of that generation. */
  void make(int generation, TokenQueueType type);

  /** Publishes tokens; done when the broker has taken them all. */
  void publish(int generation, List<TokenContent> tokens);

  /** Deletes the queue of that generation, if there is one. */
  void delete(int generation);

  /** A hand to take tokens into. */
  Hand hand(int generation);

  /** Tokens in hand: hidden from everybody else, and back in the queue when the hand is closed. */
  interface Hand extends AutoCloseable {

    /** Takes so many of those that wait in the queue, or all. */
    List<Message> take(int most);

    /** Removes them for good. */
    void remove(Collection<Message> messages);

    @Override
    void close();
  }
}
