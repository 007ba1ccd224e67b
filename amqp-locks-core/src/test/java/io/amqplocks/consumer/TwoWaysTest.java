package io.amqplocks.consumer;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The choice between the two ways, without a broker. */
class TwoWaysTest {

  private record Copy(@Nullable String id, String way) {
    static Copy tracked(@Nullable String id) {
      return new Copy(id, "tracking");
    }

    static Copy active(@Nullable String id) {
      return new Copy(id, "active");
    }
  }

  private final List<String> told = new ArrayList<>();
  private final HandledIds handled = new HandledIds();
  private TwoWays<Copy> ways = ways(0, 10);

  private TwoWays<Copy> ways(long backlog, int most) {
    TwoWays.Broker<Copy> broker =
        new TwoWays.Broker<>() {
          @Override
          public void settle(Copy copy, boolean rejected) {
            told.add((rejected ? "reject " : "ack ") + copy.way() + " " + copy.id());
          }

          @Override
          public void giveBack(Copy copy) {
            told.add("back " + copy.way() + " " + copy.id());
          }
        };
    return new TwoWays<>(Copy::id, broker, handled, backlog, most);
  }

  private void tracking(@Nullable String... ids) {
    for (String id : ids) {
      ways.cameByTracking(Copy.tracked(id));
    }
  }

  private void active(@Nullable String... ids) {
    for (String id : ids) {
      ways.cameByActive(Copy.active(id));
    }
  }

  private void assertNext(@Nullable String id, String way) {
    assertThat(ways.next()).isEqualTo(new Copy(id, way));
  }

  @Test
  void whatComesThroughTheActiveQueueFirstIsHandledThen() {
    active("a");
    assertNext("a", "active");
    ways.settle(false);
    assertThat(told).containsExactly("ack active a");
    assertThat(ways.awaitsCopies()).isTrue();
    tracking("a");
    assertThat(told).containsExactly("ack active a", "ack tracking a");
    assertThat(ways.awaitsCopies()).isFalse();
    assertThat(ways.next()).isNull();
  }

  @Test
  void whatComesFromTheTrackingQueueFirstIsHandledThen() {
    tracking("a");
    assertNext("a", "tracking");
    ways.settle(false);
    active("a");
    assertThat(told).containsExactly("ack tracking a", "ack active a");
    assertThat(ways.next()).isNull();
    assertThat(ways.awaitsCopies()).isFalse();
  }

  @Test
  void bothCopiesMayComeBeforeItIsHandled() {
    active("a", "b");
    tracking("a", "b");
    assertNext("a", "tracking");
    assertThat(told).containsExactly("ack active a");
    ways.settle(false);
    assertNext("b", "tracking");
    ways.settle(false);
    assertThat(ways.next()).isNull();
    assertThat(told)
        .containsExactly("ack active a", "ack tracking a", "ack active b", "ack tracking b");
  }

  @Test
  void theOtherCopyMayComeWhileOneIsInHand() {
    active("a");
    assertNext("a", "active");
    tracking("a");
    assertThat(told).as("not settled before it is handled").isEmpty();
    assertThat(ways.awaitsCopies()).isFalse();
    ways.settle(false);
    assertThat(told).containsExactly("ack active a", "ack tracking a");
    tracking("b");
    assertNext("b", "tracking");
    active("b");
    assertThat(told).endsWith("ack active b");
    ways.settle(false);
    assertThat(told).endsWith("ack tracking b");
    assertThat(ways.next()).isNull();
  }

  /** What arrived before the consumer was active is not overtaken by what came later. */
  @Test
  void theBacklogGoesFirst() {
    ways = ways(2, 10);
    active("c");
    assertThat(ways.next()).isNull();
    tracking("a");
    assertNext("a", "tracking");
    ways.settle(false);
    assertThat(ways.next()).isNull();
    tracking("b");
    assertNext("b", "tracking");
    ways.settle(false);
    assertNext("c", "active");
  }

  @Test
  void aRejectionIsToldToTheTrackingQueueOnly() {
    active("a");
    assertNext("a", "active");
    ways.settle(true);
    tracking("a");
    assertThat(told).containsExactly("ack active a", "reject tracking a");
    told.clear();
    active("b");
    assertNext("b", "active");
    tracking("b");
    ways.settle(true);
    assertThat(told).containsExactly("ack active b", "reject tracking b");
  }

  @Test
  void aMessageWithoutAnIdIsHandledFromTheTrackingQueue() {
    active((String) null);
    assertThat(told).containsExactly("ack active null");
    assertThat(ways.next()).isNull();
    tracking(null, null);
    assertNext(null, "tracking");
    ways.settle(false);
    assertNext(null, "tracking");
    ways.settle(false);
    assertThat(told).containsExactly("ack active null", "ack tracking null", "ack tracking null");
  }

  @Test
  void anIdThatComesAgainIsNotHandledAgain() {
    tracking("a", "a");
    assertNext("a", "tracking");
    ways.settle(false);
    assertThat(ways.next()).isNull();
    active("a", "a");
    tracking("a");
    assertThat(ways.next()).isNull();
    assertThat(told).hasSize(5).allMatch(text -> text.startsWith("ack "));
  }

  @Test
  void whatWasHandledInAnEarlierTermIsSettledAsThen() {
    tracking("a", "b");
    assertNext("a", "tracking");
    ways.settle(false);
    assertNext("b", "tracking");
    ways.settle(true);
    told.clear();
    ways = ways(2, 10);
    tracking("a", "b");
    assertThat(ways.next()).isNull();
    assertThat(told).containsExactly("ack tracking a", "reject tracking b");
  }

  /** So many may be handled twice if this process dies, and so many strangers' messages do harm. */
  @Test
  void noMoreThanThatIsHandledAhead() {
    ways = ways(0, 2);
    active("a", "b");
    assertNext("a", "active");
    ways.settle(false);
    assertNext("b", "active");
    ways.settle(false);
    active("c");
    assertThat(ways.next()).isNull();
    tracking("a");
    assertNext("c", "active");
    ways.settle(false);
    assertThat(ways.next()).isNull();
    tracking("x");
    assertNext("x", "tracking");
  }

  /** Its id may have been forgotten meanwhile. */
  @Test
  void whatWasHandledAheadIsSettledAsItWasHandled() {
    active("a");
    assertNext("a", "active");
    ways.settle(true);
    IntStream.range(0, 10_000).forEach(i -> handled.add("other " + i, false));
    assertThat(handled.rejected("a")).isNull();
    tracking("a");
    assertThat(ways.next()).isNull();
    assertThat(told).containsExactly("ack active a", "reject tracking a");
  }

  /** The broker must be able to go on sending, or it would keep all that follows. */
  @Test
  void ofWhatComesThroughTheActiveQueueTheEldestIsLeftToTheTrackingQueue() {
    ways = ways(0, 2);
    tracking("x");
    assertNext("x", "tracking");
    active("a", "b", "c");
    assertThat(told).containsExactly("ack active a");
    ways.settle(false);
    assertThat(ways.next()).as("not before what was left to the tracking queue").isNull();
    tracking("a");
    assertNext("a", "tracking");
    ways.settle(false);
    assertNext("b", "active");
  }

  @Test
  void whatIsInHandAtTheEndIsGivenBackToTheTrackingQueueOnly() {
    active("a");
    assertNext("a", "active");
    ways.giveBackInHand();
    assertThat(told).isEmpty();
    assertThat(ways.awaitsCopies()).isFalse();
    active("b");
    assertNext("b", "active");
    tracking("b");
    ways.giveBackInHand();
    assertThat(told).containsExactly("back tracking b");
    tracking("c", "d");
    assertNext("c", "tracking");
    ways.giveBackInHand();
    ways.giveBackRest();
    assertThat(told).containsExactly("back tracking b", "back tracking c", "back tracking d");
  }

  @Test
  void whatIsInHandStaysSoWhenTheRestIsGivenBack() {
    active("a", "b");
    assertNext("a", "active");
    tracking("a", "b");
    ways.giveBackRest();
    assertThat(told).containsExactly("back tracking b");
    ways.settle(false);
    assertThat(told).containsExactly("back tracking b", "ack active a", "ack tracking a");
  }

  /**
   * Whatever the order in which copies come: each message is handled once, in the order of the
   * tracking queue if both ways keep it, and each copy is settled once.
   */
  @ParameterizedTest
  @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10})
  void atRandomEachIsHandledOnceInOrder(long seed) {
    Random random = new Random(seed);
    int messages = 500;
    int backlog = random.nextInt(messages / 2);
    // Every other time there is room for all that is not handled yet.
    boolean room = seed % 2 == 0;
    ways = ways(backlog, room ? messages : 1 + random.nextInt(20));
    Deque<Integer> tracking = new ArrayDeque<>();
    Deque<Integer> active = new ArrayDeque<>();
    for (int i = 0; i < messages; i++) {
      tracking.add(i);
      if (i >= backlog) {
        active.add(i);
      }
    }
    List<Integer> order = new ArrayList<>();
    Set<String> byActive = new HashSet<>();
    boolean inHand = false;
    while (order.size() < messages || !tracking.isEmpty() || !active.isEmpty() || inHand) {
      // The tracking queue is slower than the handler.
      switch (random.nextInt(8)) {
        case 0 -> {
          if (!tracking.isEmpty()) {
            tracking(tracking.remove().toString());
          }
        }
        case 1 -> {
          if (!active.isEmpty()) {
            active(active.remove().toString());
          }
        }
        case 2, 3, 4 -> {
          Copy next = inHand ? null : ways.next();
          if (next != null) {
            inHand = true;
            order.add(Integer.valueOf(String.valueOf(next.id())));
            if (next.way().equals("active")) {
              byActive.add(String.valueOf(next.id()));
            }
          }
        }
        default -> {
          if (inHand) {
            ways.settle(random.nextInt(10) == 0);
            inHand = false;
          }
        }
      }
    }
    assertThat(order).isSorted().doesNotHaveDuplicates().hasSize(messages);
    assertThat(told).doesNotHaveDuplicates().hasSize(messages + messages - backlog);
    assertThat(told).noneMatch(text -> text.startsWith("reject active"));
    if (room) {
      assertThat(byActive).as("by the faster way").isNotEmpty();
    }
    assertThat(ways.awaitsCopies()).isFalse();
  }
}
