package io.amqplocks.prover.driver;

import com.fasterxml.jackson.annotation.JsonInclude;
import org.jspecify.annotations.Nullable;

/**
 * What a client did or saw: one line of JSON on its standard output, written before the client goes
 * on. Times are nanoseconds of the machine's monotonic clock ({@code System.nanoTime()} on Linux,
 * {@code time.monotonic_ns()} in Python), which all processes of a machine share.
 *
 * @param id the number of the command
 * @param cycle which acquire of the command it was, from 1; 0 if it is about none
 * @param what what happened
 * @param from when the client began to ask for it
 * @param at when it happened, as {@link What} says for each
 * @param slot the slot, from 1; that of the fencing token, if there is one
 * @param token the number of the fencing token; 0 if there is none
 * @param detail a reason, for people
 */
@JsonInclude(JsonInclude.Include.NON_DEFAULT)
public record Event(
    long id,
    int cycle,
    What what,
    long from,
    long at,
    int slot,
    long token,
    @Nullable String detail) {

  /** What can happen. */
  public enum What {
    /** The client asks for the lock. Written before it does. {@code at} is before the request. */
    ASKS,
    /** It has acquired the lock. {@code at} is after the acquire returned. */
    ACQUIRED,
    /** It asked its lease, which is held. {@code at} is before it asked. */
    HELD,
    /** It asked its lease, which may have been lost. {@code at} is after it asked. */
    UNCERTAIN,
    /** Its lease is lost. {@code at} is after it found out. */
    LOST,
    /** Its lease notified it of a loss, be it before or after its end. {@code at} is after that. */
    NOTIFIED,
    /** Its lease is lost, and has not notified it for so long that it never will. */
    NOT_NOTIFIED,
    /** It is about to release. It asked its lease, which is held. {@code at} is before it asked. */
    RELEASES,
    /** The release has returned. {@code at} is after it. */
    RELEASED,
    /**
     * A guarded row did not take a write of its lease, since a later lease had written to it.
     * {@code token} is the token it was written with, and {@code at} is after the answer.
     */
    REFUSED,
    /** The lock was busy. {@code at} is after the acquire returned. */
    BUSY,
    /** Whether the lock was free is not known, for example since the broker was away. */
    FAILED,
    /**
     * It has handled a message: {@code token} is its number, and {@code slot} which consumer of the
     * command that was, from 1. {@code from} is when its handler was called, and {@code at} is
     * before it returned.
     */
    HANDLED,
    /** A publisher: the broker has confirmed the message whose number is {@code token}. */
    PUBLISHED,
    /** A command that is not WORK was carried out, or all cycles of WORK are over. */
    DONE,
    /** A command that is not WORK failed. Whether it had an effect is not known. */
    NOT_DONE,
    /** The client has no such lock, or cannot do that with it. It did nothing. */
    UNSUPPORTED;

    /** Whether it is the last event of a command. */
    public boolean isEnd() {
      return this == DONE || this == NOT_DONE || this == UNSUPPORTED;
    }
  }
}
