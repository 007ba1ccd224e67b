package io.amqplocks.internal.tokens.admin;

import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.internal.tokens.TokenContent;
import io.amqplocks.internal.tokens.TokenRecord;
import io.amqplocks.internal.tokens.admin.UnackedMessages.Message;
import java.util.Collection;
import java.util.List;
import java.util.OptionalInt;

/**
 * The operations at the broker that are available to an administrator of one token semaphore while
 * it has the turn. A step is done when its method returns. A step whose method throws may have been
 * done, fully or in part.
 */
interface TokenBroker {

  /** The present record; a blank one if there never was any. */
  TokenRecord record();

  /** Writes the next version of the record. */
  void write(TokenRecord next);

  /** Enters the semaphore in the index of the keys of its name, if it has a key. */
  void enlist();

  /** Deletes the record, with all that it remembers of the semaphore. */
  void forget();

  /** The major version of the broker. */
  int brokerMajor();

  /**
   * Checks that the broker's queues of that type treat tokens as they should; throws if they do
   * not.
   */
  void tryOut(TokenQueueType type);

  /** The number of idle tokens in the queue of that generation; empty if there is no such queue. */
  OptionalInt idle(int generation);

  /** Declares the queue of that generation. */
  void make(int generation, TokenQueueType type);

  /** Publishes tokens. Returns when the broker has confirmed all of them. */
  void publish(int generation, List<TokenContent> tokens);

  /** Deletes the queue of that generation, if it exists. */
  void delete(int generation);

  /** Prepares to receive tokens from the queue that the record names. */
  Unacked unacked(TokenRecord record);

  /**
   * Tokens that were received. They are hidden from everybody else, and go back to the queue when
   * this is closed.
   */
  interface Unacked extends AutoCloseable {

    /** Takes idle tokens from the queue, at most the given number. */
    List<Message> take(int most);

    /**
     * Puts back all messages, and receives them again, before clients that wait. A message that the
     * broker had sent twice comes once. One may be missing.
     *
     * @return all messages that are here now
     */
    List<Message> again();

    /** Removes the messages for good. */
    void remove(Collection<Message> messages);

    @Override
    void close();
  }
}
