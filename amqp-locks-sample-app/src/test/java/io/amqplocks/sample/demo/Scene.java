package io.amqplocks.sample.demo;

import com.fasterxml.jackson.annotation.JsonInclude;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * All that the page shows, at one moment. Each number was measured: by the receiver, by the workers
 * themselves, or by the broker. Times are in milliseconds. Those of holds are on one clock, that of
 * {@code now}.
 *
 * @param now the moment
 * @param broker which broker it is
 * @param kind how it keeps the slots
 * @param slots how many slots there are since the last resize
 * @param mostSlots the most there ever were
 * @param limit how many there can be
 * @param atBroker what the broker said last; null until a worker has asked it
 * @param lanes one for each slot that is known
 * @param holds who held which slot in the last seconds
 * @param workers those that live
 * @param uploads the receiver's count
 * @param lost how many leases the workers lost
 * @param seconds each second of the last minute, the latest last
 * @param events what happened lately, the latest last
 */
@JsonInclude(JsonInclude.Include.NON_NULL)
record Scene(
    long now,
    String broker,
    String kind,
    int slots,
    int mostSlots,
    int limit,
    @Nullable AtBroker atBroker,
    List<Lane> lanes,
    List<Bar> holds,
    List<Worker> workers,
    Uploads uploads,
    int lost,
    List<Second> seconds,
    List<Event> events) {

  /** How sure a holder is. */
  enum Sure {
    HELD,
    UNCERTAIN,
    /** The worker has not said for some seconds. */
    UNKNOWN
  }

  /**
   * The slots by the broker's own count, which sees lost tokens too.
   *
   * @param slots how many there are
   * @param inUse how many of them are taken
   * @param age how long ago that was
   */
  record AtBroker(int slots, int inUse, long age) {}

  /**
   * A slot.
   *
   * @param slot its number
   * @param worker who holds it; null if it is free
   * @param held for how long
   * @param sure how sure the holder is
   * @param confirmed how long ago the broker has confirmed it
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  record Lane(
      int slot,
      @Nullable Integer worker,
      @Nullable Long held,
      @Nullable Sure sure,
      @Nullable Long confirmed) {

    /** A worker may have said so after the moment of the scene. */
    Lane {
      held = held == null ? null : Math.max(0, held);
      confirmed = confirmed == null ? null : Math.max(0, confirmed);
    }

    static Lane free(int slot) {
      return new Lane(slot, null, null, null, null);
    }
  }

  /** A hold, from when until when; it lasts as long as it has no end. */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  record Bar(int slot, int worker, long from, @Nullable Long to, Hold.@Nullable End end) {}

  /**
   * A worker process.
   *
   * @param number its number
   * @param pid its process
   * @param starting whether it takes no work yet
   * @param holding how many slots it holds
   * @param waiting how many of its calls wait for one; null until it has said so
   * @param session the state of its session with the broker; null until it has said so
   * @param age how long ago it said so
   * @param cuttable whether its connections can be cut
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  record Worker(
      int number,
      long pid,
      boolean starting,
      int holding,
      @Nullable Integer waiting,
      @Nullable String session,
      @Nullable Long age,
      boolean cuttable) {}

  /**
   * What the receiver has counted.
   *
   * @param inFlight uploads just now
   * @param most the most whole ones there ever were at once
   * @param received those that brought an image
   * @param failed those that broke off
   */
  record Uploads(int inFlight, int most, int received, int failed) {}

  /**
   * One second.
   *
   * @param uploads how many ended in it, with an image
   * @param waited how long those that got a slot in it had waited, on average; null if nobody did
   */
  @JsonInclude(JsonInclude.Include.NON_NULL)
  record Second(int uploads, @Nullable Long waited) {}

  /**
   * Something to tell.
   *
   * @param number the first one is 1
   * @param at when, in milliseconds of the wall clock
   * @param kind of what kind it is
   * @param text what to tell
   */
  record Event(int number, long at, Kind kind, String text) {

    /** What kinds there are. */
    enum Kind {
      LOST,
      KILLED,
      STARTED,
      CUT,
      RESIZED,
      FREED
    }
  }
}
