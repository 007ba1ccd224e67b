package io.amqplocks.internal.fencing;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.lock.FencingToken;
import java.util.HashSet;
import java.util.Set;
import java.util.function.ToLongFunction;
import org.junit.jupiter.api.Test;

/**
 * Every history of one slot and two clients, up to a number of steps. The broker may take the slot
 * back at any time, and does not say so. The clients acquire, verify, release, and hand the slot
 * over from thread to thread. The token of each lease must be above those of all leases that were
 * rightful before it. Otherwise a resource would refuse a rightful holder, or accept a stale one.
 *
 * <p>The same search finds the mistake in each of three wrong designs.
 */
class FencingOrderTest {

  private static final int STEPS = 11;
  private static final int NOBODY = -1;

  /** What a client believes. */
  private enum Belief {
    IDLE,
    WON,
    DRAWN,
    HELD
  }

  /** One client: what it believes, and the parts of its token. */
  private record Client(Belief belief, long n, int handOvers) {
    static final Client IDLE = new Client(Belief.IDLE, 0, 0);
  }

  /**
   * A state of all.
   *
   * @param holder the client that has the slot by the broker's account
   * @param counter how often the counter was drawn from
   * @param highest the highest token of the leases that were rightful when they began, as a number
   * @param highestBy the client that had that lease
   */
  private record State(Client a, Client b, int holder, long counter, long highest, int highestBy) {
    Client client(int which) {
      return which == 0 ? a : b;
    }

    State with(int which, Client next) {
      return which == 0
          ? new State(next, b, holder, counter, highest, highestBy)
          : new State(a, next, holder, counter, highest, highestBy);
    }

    State held(int by) {
      return new State(a, b, by, counter, highest, highestBy);
    }

    State drawn() {
      return new State(a, b, holder, counter + 1, highest, highestBy);
    }

    State issued(long number) {
      return new State(a, b, holder, counter, number, holder);
    }
  }

  /** What makes a design. */
  private record Design(boolean checksAfterDraw, boolean counts, ToLongFunction<Client> number) {}

  private static long number(Client client) {
    return new FencingToken(1, 29_876_543, client.n, client.handOvers).number();
  }

  private final Set<State> seen = new HashSet<>();
  private boolean wrong;

  /** Explores all histories. Returns whether one of them gives a token out of order. */
  private boolean findsAMistakeIn(Design design) {
    Set<State> now = Set.of(new State(Client.IDLE, Client.IDLE, NOBODY, 0, Long.MIN_VALUE, NOBODY));
    for (int step = 0; step < STEPS; step++) {
      Set<State> next = new HashSet<>();
      for (State each : now) {
        next.addAll(after(each, design));
      }
      next.removeAll(seen);
      seen.addAll(next);
      now = next;
    }
    return wrong;
  }

  private Set<State> after(State state, Design design) {
    Set<State> next = new HashSet<>();
    next.add(state.held(NOBODY));
    for (int i = 0; i < 2; i++) {
      Client client = state.client(i);
      boolean rightful = state.holder == i;
      switch (client.belief) {
        case IDLE -> {
          if (state.holder == NOBODY) {
            next.add(state.held(i).with(i, new Client(Belief.WON, 0, 0)));
          }
        }
        case WON -> next.add(state.with(i, new Client(Belief.DRAWN, state.counter, 0)).drawn());
        case DRAWN -> {
          if (rightful || !design.checksAfterDraw) {
            next.add(issued(state.with(i, new Client(Belief.HELD, client.n, 0)), i, design));
          } else {
            next.add(state.with(i, Client.IDLE));
          }
        }
        case HELD -> {
          // A token's queue counts verifications too.
          next.add(rightful ? state.drawn() : state.with(i, Client.IDLE));
          State released = state.with(i, Client.IDLE);
          next.add(rightful ? released.held(NOBODY) : released);
          int handOvers = design.counts ? client.handOvers + 1 : client.handOvers;
          next.add(issued(state.with(i, new Client(Belief.HELD, client.n, handOvers)), i, design));
        }
      }
    }
    return next;
  }

  /** A lease begins. It is rightful if the client has the slot by the broker's account. */
  private State issued(State state, int by, Design design) {
    long number = design.number.applyAsLong(state.client(by));
    boolean rightful = state.holder == by;
    // A stale lease may begin, unknowing, but not above a rightful one of the other client.
    boolean superseded = state.highestBy == 1 - by;
    if (rightful ? number <= state.highest : superseded && number >= state.highest) {
      wrong = true;
    }
    return rightful ? state.issued(number) : state;
  }

  @Test
  void eachTokenIsAboveThoseOfAllEarlierHolders() {
    assertThat(findsAMistakeIn(new Design(true, true, FencingOrderTest::number))).isFalse();
    assertThat(seen).as("states").hasSizeGreaterThan(1_000);
  }

  @Test
  void findsThatADrawMustBeCheckedAfterwards() {
    assertThat(findsAMistakeIn(new Design(false, true, FencingOrderTest::number))).isTrue();
  }

  @Test
  void findsThatHandOversMustBeCounted() {
    assertThat(findsAMistakeIn(new Design(true, false, FencingOrderTest::number))).isTrue();
  }

  @Test
  void findsThatHandOversMustNotCountAsDraws() {
    assertThat(findsAMistakeIn(new Design(true, true, client -> client.n + client.handOvers)))
        .isTrue();
  }
}
