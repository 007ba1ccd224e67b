package io.amqplocks.internal.fencing;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.lock.FencingToken;
import java.util.HashSet;
import java.util.Set;
import java.util.function.ToLongFunction;
import org.junit.jupiter.api.Test;

/**
 * Every history of one slot, one counter and two clients, up to a number of steps. The broker may
 * take the slot back at any time, and does not say so. The clients acquire, verify, release, and
 * hand the slot over from thread to thread. The token of each rightful lease must be above those of
 * all leases that began before it. Otherwise a resource would refuse a rightful holder. The token
 * of a stale lease must be below those of the rightful ones that superseded it. Otherwise a
 * resource would accept it.
 *
 * <p>The same search finds the mistake in each of three wrong designs.
 */
class FencingOrderTest {

  private static final int STEPS = 13;
  private static final int NOBODY = -1;

  /** What a client believes. */
  private enum Belief {
    IDLE,
    WON,
    DRAWN,
    CHECKED,
    HELD
  }

  /**
   * One client.
   *
   * @param belief what it believes
   * @param n the part of its token that it drew
   * @param handOvers the part of its token that it counts
   * @param superseded whether a rightful lease of the other client began since this one won
   */
  private record Client(Belief belief, long n, int handOvers, boolean superseded) {
    static final Client IDLE = new Client(Belief.IDLE, 0, 0, false);
    static final Client WON = new Client(Belief.WON, 0, 0, false);

    Client with(Belief next) {
      return new Client(next, n, handOvers, superseded);
    }

    Client drawn(long counter) {
      return new Client(Belief.DRAWN, counter, 0, superseded);
    }

    Client handedOver(int times) {
      return new Client(belief, n, times, superseded);
    }

    Client supersede() {
      return belief == Belief.IDLE ? this : new Client(belief, n, handOvers, true);
    }
  }

  /**
   * A state of all.
   *
   * @param holder the client that has the slot by the broker's account
   * @param counter how often the counter was drawn from
   * @param highest the highest token that any lease had, rightful or not, as a number
   * @param rightful the token of the last lease that was rightful when it began
   */
  private record State(Client a, Client b, int holder, long counter, long highest, long rightful) {
    Client client(int which) {
      return which == 0 ? a : b;
    }

    State with(int which, Client next) {
      return which == 0
          ? new State(next, b, holder, counter, highest, rightful)
          : new State(a, next, holder, counter, highest, rightful);
    }

    State held(int by) {
      return new State(a, b, by, counter, highest, rightful);
    }

    State drawn() {
      return new State(a, b, holder, counter + 1, highest, rightful);
    }

    State issued(long number, int by) {
      long top = Math.max(highest, number);
      return by == holder
          ? new State(a, b, holder, counter, top, number).with(1 - by, client(1 - by).supersede())
          : new State(a, b, holder, counter, top, rightful);
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
    Set<State> now =
        Set.of(new State(Client.IDLE, Client.IDLE, NOBODY, 0, Long.MIN_VALUE, Long.MIN_VALUE));
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
            next.add(state.held(i).with(i, Client.WON));
          }
        }
        case WON -> next.add(state.with(i, client.drawn(state.counter)).drawn());
        case DRAWN -> {
          boolean passes = rightful || !design.checksAfterDraw;
          next.add(state.with(i, passes ? client.with(Belief.CHECKED) : Client.IDLE));
        }
        case CHECKED -> next.add(issued(state.with(i, client.with(Belief.HELD)), i, design));
        case HELD -> {
          // A token's queue counts verifications too.
          next.add(rightful ? state.drawn() : state.with(i, Client.IDLE));
          State released = state.with(i, Client.IDLE);
          next.add(rightful ? released.held(NOBODY) : released);
          int times = design.counts ? client.handOvers + 1 : client.handOvers;
          next.add(issued(state.with(i, client.handedOver(times)), i, design));
        }
      }
    }
    return next;
  }

  /** A lease begins. It is rightful if the client has the slot by the broker's account. */
  private State issued(State state, int by, Design design) {
    long number = design.number.applyAsLong(state.client(by));
    boolean rightful = state.holder == by;
    // A stale lease may begin, unknowing, but not above the rightful one that superseded it.
    boolean superseded = state.client(by).superseded;
    if (rightful ? number <= state.highest : superseded && number >= state.rightful) {
      wrong = true;
    }
    return state.issued(number, by);
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
