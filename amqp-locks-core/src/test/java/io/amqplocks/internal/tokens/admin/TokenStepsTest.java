package io.amqplocks.internal.tokens.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.amqplocks.admin.TokenAudit;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.internal.tokens.TokenRecord;
import io.amqplocks.internal.tokens.admin.ModelTokens.Crash;
import io.amqplocks.internal.tokens.admin.UnackedMessages.Message;
import io.amqplocks.lock.FencingToken;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The steps against a model of the broker, with an administrator that dies after each of them. */
class TokenStepsTest {

  private static final int MOST = 4;

  private static TokenSteps steps(ModelTokens model) {
    return model.plain
        ? new PlainTokenSteps(LockId.tokenSemaphore("s"), model, () -> model.minutes)
        : new TokenSteps(LockId.tokenSemaphore("s"), model, () -> model.minutes);
  }

  private static ModelTokens semaphore(int slots, int held) {
    return semaphore(slots, held, false);
  }

  private static ModelTokens semaphore(int slots, int held, boolean plain) {
    ModelTokens model = new ModelTokens();
    model.plain = plain;
    if (slots > 0) {
      steps(model).create(slots, TokenQueueType.CLASSIC, false);
    }
    model.hold(held);
    model.most = 0;
    return model;
  }

  /** Brings the semaphore to that number of slots, whatever it has. */
  private static void change(ModelTokens model, int wanted) {
    TokenSteps steps = steps(model);
    if (wanted == 0) {
      steps.destroy();
    } else if (model.record().slots() == 0) {
      steps.create(wanted, TokenQueueType.CLASSIC, false);
    } else {
      steps.resize(wanted);
    }
  }

  /** Everybody gives back, and the withdrawing consumer is at work for as long as it would be. */
  private static void drain(ModelTokens model) {
    model.release();
    // What goes back goes to the end, so each token comes to hand in the end.
    for (int i = 0; i < 3 * MOST; i++) {
      if (model.record().slots() == 0 || model.record().excess() == 0) {
        return;
      }
      TokenSteps steps = steps(model);
      TokenRecord before = steps.existing();
      try (TokenBroker.Unacked unacked = model.unacked(before)) {
        steps.withdraw(before, unacked, unacked.take(before.excess()));
      }
    }
  }

  private static TokenAudit repair(ModelTokens model) {
    TokenSteps steps = steps(model);
    TokenRecord record = steps.existing();
    try (TokenBroker.Unacked unacked = model.unacked(record)) {
      return steps.repair(record, unacked, unacked.take(Integer.MAX_VALUE));
    }
  }

  /** An inspection receives every token, and the broker sends each of them once more. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void whatTheBrokerSentTwiceIsNotTakenForDoubled(boolean plain) {
    ModelTokens model = semaphore(MOST, 0, plain);
    TokenSteps steps = steps(model);
    TokenRecord record = steps.existing();
    try (TokenBroker.Unacked unacked = model.unacked(record)) {
      List<Message> taken = takenTwice(model, unacked);
      assertThat(taken).hasSize(2 * MOST);
      assertThat(steps.repair(record, unacked, taken))
          .isEqualTo(new TokenAudit(MOST, 2 * MOST, MOST, 0, Set.of(), false));
    }
    assertThat(model.known()).isEqualTo(record);
    assertThat(repair(model)).isEqualTo(new TokenAudit(MOST, MOST, 0, 0, Set.of(), false));
    assertThat(model.idleTokens()).hasSize(MOST).doesNotHaveDuplicates();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void aResizeLeavesWhatTheBrokerSentTwice(boolean plain) {
    ModelTokens model = semaphore(MOST, 0, plain);
    TokenSteps steps = steps(model);
    TokenRecord record = steps.existing();
    try (TokenBroker.Unacked unacked = model.unacked(record)) {
      assertThat(steps.withdraw(record, unacked, takenTwice(model, unacked))).isEqualTo(record);
    }
    assertThat(model.idleTokens()).hasSize(MOST).doesNotHaveDuplicates();
  }

  /** The same, and somebody else gets one of them. */
  @Test
  void aTokenThatSomebodyElseGetsMeanwhileIsNotLost() {
    ModelTokens model = semaphore(MOST, 0, false);
    TokenSteps steps = steps(model);
    TokenRecord record = steps.existing();
    try (TokenBroker.Unacked unacked = model.unacked(record)) {
      List<Message> taken = new ArrayList<>(unacked.take(Integer.MAX_VALUE));
      model.putBackUnasked();
      model.hold(1);
      taken.addAll(unacked.take(Integer.MAX_VALUE));
      assertThat(steps.repair(record, unacked, taken).repaired()).isFalse();
    }
    model.release();
    assertThat(model.known()).isEqualTo(record);
    assertThat(model.idleTokens()).hasSize(MOST).doesNotHaveDuplicates();
  }

  /** Of a quorum queue nobody is told when it does so, even while the messages come again. */
  @Test
  void whatAQuorumQueueSendsTwiceAtTheSecondLookIsNotTakenForDoubled() {
    ModelTokens model = new ModelTokens();
    steps(model).create(MOST, TokenQueueType.QUORUM, false);
    String token = model.idleTokens().get(0);
    model.idleTokens().add(token);
    model.idleTokens().add("resource");
    model.putsBackAtTheSecondLook = true;
    assertThat(repair(model)).isEqualTo(new TokenAudit(MOST, MOST + 2, 2, 0, Set.of(), false));
    assertThat(model.idleTokens()).hasSize(MOST + 1).doesNotContain("resource");
    assertThat(Set.copyOf(model.idleTokens())).hasSize(MOST);
    model.putsBackAtTheSecondLook = false;
    assertThat(repair(model)).isEqualTo(new TokenAudit(MOST, MOST + 1, 1, 0, Set.of(), true));
    assertThat(model.idleTokens()).hasSize(MOST).doesNotHaveDuplicates();
  }

  /** A resize takes few of the messages, and is sent all when it looks again. */
  @Test
  void aSurplusMessageInHandIsRemovedThoughOthersComeWithIt() {
    ModelTokens model = new ModelTokens();
    steps(model).create(MOST, TokenQueueType.QUORUM, false);
    model.hold(2);
    model.idleTokens().add(0, "resource");
    assertThat(steps(model).resize(MOST - 1).pending()).isZero();
    model.release();
    assertThat(model.idleTokens()).hasSize(MOST - 1).doesNotContain("resource");
  }

  private static List<Message> takenTwice(ModelTokens model, TokenBroker.Unacked unacked) {
    List<Message> taken = new ArrayList<>(unacked.take(Integer.MAX_VALUE));
    model.putBackUnasked();
    taken.addAll(unacked.take(Integer.MAX_VALUE));
    return taken;
  }

  private interface Case {
    void of(int slots, int held, int first, int second, int effects, ModelTokens crashed);
  }

  private static void forAllCrashes(boolean plain, Case test) {
    for (int slots = 0; slots <= MOST; slots++) {
      for (int held = 0; held <= slots; held++) {
        for (int first = 0; first <= MOST; first++) {
          for (int second = 0; second <= MOST; second++) {
            for (int effects = 0; ; effects++) {
              ModelTokens model = semaphore(slots, held, plain);
              model.effectsLeft = effects;
              boolean crashed = false;
              try {
                change(model, first);
              } catch (Crash e) {
                crashed = true;
              }
              model.effectsLeft = Integer.MAX_VALUE;
              test.of(slots, held, first, second, effects, model);
              if (!crashed) {
                break;
              }
            }
          }
        }
      }
    }
  }

  private static String as(int slots, int held, int first, int second, int effects) {
    return "%d slots, %d held, to %d, died after %d effects, then to %d"
        .formatted(slots, held, first, effects, second);
  }

  @Tag("trap-11")
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void neverMoreTokensThanWantedAndTheNextOneGetsWhatItWants(boolean plain) {
    forAllCrashes(
        plain,
        (slots, held, first, second, effects, model) -> {
          String as = as(slots, held, first, second, effects);
          assertThat(model.most).as(as).isLessThanOrEqualTo(Math.max(slots, first));
          change(model, second);
          assertThat(model.most)
              .as(as)
              .isLessThanOrEqualTo(Math.max(Math.max(slots, first), second));
          drain(model);
          TokenRecord record = model.record();
          assertThat(record.slots()).as(as).isEqualTo(second);
          assertThat(record.pending()).as(as).isZero();
          assertThat(model.queueCount()).as(as).isEqualTo(second == 0 ? 0 : 1);
          assertThat(model.usable())
              .as("%s: %s", as, record)
              .isEqualTo(record.tokens().size())
              .isBetween(second - record.unsettled(), second);
        });
  }

  /** Tokens of which nobody knows whether they are there are taken before anybody looks. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void whatMayBeThereIsWithdrawnWhenItComesBack(boolean plain) {
    forAllCrashes(
        plain,
        (slots, held, first, second, effects, model) -> {
          model.hold(MOST);
          change(model, second);
          drain(model);
          String as = as(slots, held, first, second, effects) + ": " + model.record();
          assertThat(model.usable()).as(as).isLessThanOrEqualTo(second);
          assertThat(model.record().pending()).as(as).isZero();
        });
  }

  @Test
  void repairRemovesASurplusOnceAndWhatIsPendingToo() {
    ModelTokens model = semaphore(3, 3);
    change(model, 1);
    model.release();
    model.idleTokens().add("resource");
    assertThat(repair(model)).isEqualTo(new TokenAudit(1, 4, 1, 0, Set.of(), true));
    assertThat(repair(model)).isEqualTo(clean(1));
  }

  private static TokenSteps late(ModelTokens model) {
    return new TokenSteps(LockId.tokenSemaphore("s"), model, () -> FencingToken.MAX_EPOCH + 1);
  }

  @Test
  void anEpochThatNobodyCouldReadIsRefusedBeforeAnythingIsWritten() {
    ModelTokens blank = new ModelTokens();
    blank.effectsLeft = 0;
    assertThatThrownBy(() -> late(blank).create(1, TokenQueueType.CLASSIC, false))
        .isInstanceOf(LockException.Unexpected.class)
        .hasMessageContaining("clock");
    ModelTokens model = semaphore(2, 0);
    model.effectsLeft = 0;
    assertThatThrownBy(() -> late(model).resize(3)).isInstanceOf(LockException.Unexpected.class);
    assertThat(model.record().slots()).isEqualTo(2);
  }

  @Test
  void onlyAQueueThatIsGoneIsRestored() {
    ModelTokens model = semaphore(3, 1);
    assertThat(steps(model).restore()).isEmpty();
    model.delete(model.record().generation());
    assertThat(steps(model).restore()).contains(new TokenAudit(3, 0, 0, 3, Set.of(1, 2, 3), true));
    assertThat(repair(model)).isEqualTo(clean(3));
    steps(model).destroy();
    assertThat(steps(model).restore()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void repairMakesItWholeAfterAnyCrash(boolean plain) {
    forAllCrashes(
        plain,
        (slots, held, first, second, effects, model) -> {
          if (second == 0) {
            return;
          }
          change(model, second);
          drain(model);
          TokenAudit found = repair(model);
          String as = as(slots, held, first, second, effects) + ": " + found;
          assertThat(model.usable()).as(as).isEqualTo(second);
          assertThat(model.record().unsettled()).as(as).isZero();
          assertThat(repair(model)).as(as).isEqualTo(clean(second));
        });
  }

  @Test
  void repairMayDieToo() {
    for (int effects = 0; effects < 60; effects++) {
      ModelTokens model = semaphore(3, 2);
      model.idleTokens().clear();
      model.effectsLeft = effects;
      try {
        repair(model);
      } catch (Crash e) {
        assertThat(model.most).isLessThanOrEqualTo(3);
      }
      model.effectsLeft = Integer.MAX_VALUE;
      // Its queue may be gone; then creating it again is what makes it whole.
      model.release();
      steps(model).create(3, TokenQueueType.CLASSIC, true);
      repair(model);
      assertThat(model.usable()).as("%d effects", effects).isEqualTo(3);
      assertThat(model.most).isLessThanOrEqualTo(3);
      assertThat(model.queueCount()).isEqualTo(1);
    }
  }

  private static TokenAudit clean(int slots) {
    return new TokenAudit(slots, slots, 0, 0, Set.of(), false);
  }

  private static TokenAudit repairAfter(ModelTokens model, Consumer<List<String>> stranger) {
    stranger.accept(model.idleTokens());
    TokenAudit found = repair(model);
    assertThat(repair(model)).isEqualTo(clean(model.record().slots()));
    return found;
  }

  @Test
  void repairTellsWhatAStrangerDid() {
    assertThat(repairAfter(semaphore(3, 0), idle -> idle.remove(1)))
        .isEqualTo(new TokenAudit(3, 2, 0, 1, Set.of(2), true));
    assertThat(repairAfter(semaphore(3, 0), idle -> idle.add("resource")))
        .isEqualTo(new TokenAudit(3, 4, 1, 0, Set.of(), true));
    assertThat(repairAfter(semaphore(3, 0), idle -> idle.add(idle.get(0))))
        .isEqualTo(new TokenAudit(3, 4, 1, 0, Set.of(), true));
    assertThat(repairAfter(semaphore(3, 0), idle -> idle.set(0, "resource")))
        .isEqualTo(new TokenAudit(3, 3, 1, 1, Set.of(1), true));
    assertThat(repairAfter(semaphore(3, 0), idle -> {})).isEqualTo(clean(3));
  }

  @Test
  void aDestroyedSemaphoreIsForgottenWhenTheClockHasPassedItAndNotBefore() {
    for (int effects = 0; effects < 20; effects++) {
      ModelTokens model = semaphore(2, 1);
      change(model, 3);
      TokenRecord last = model.record();
      change(model, 0);
      assertThat(model.isRemembered()).isTrue();
      change(model, 2);
      assertThat(model.record().epoch()).isGreaterThan(last.epoch());
      last = model.record();
      model.minutes = Math.max(last.epoch(), last.reserved()) + 61;
      model.effectsLeft = effects;
      try {
        change(model, 0);
      } catch (Crash e) {
        model.effectsLeft = Integer.MAX_VALUE;
        change(model, 0);
      }
      model.effectsLeft = Integer.MAX_VALUE;
      assertThat(model.isRemembered()).as("%d effects", effects).isFalse();
      assertThat(model.queueCount()).isZero();
      change(model, 1);
      assertThat(model.record().epoch()).isGreaterThan(last.epoch());
      assertThat(model.record().generation()).isGreaterThan(last.reserved());
      assertThat(model.record().version()).isGreaterThan(last.version());
      assertThat(model.usable()).isEqualTo(1);
    }
  }

  @Test
  void aBrokerThatCountsAnewGetsNewTokens() {
    ModelTokens model = new ModelTokens();
    model.major = 3;
    steps(model).create(1, TokenQueueType.QUORUM, false);
    long epoch = model.record().epoch();
    assertThat(repair(model)).isEqualTo(clean(1));
    model.major = 4;
    assertThat(repair(model).repaired()).isTrue();
    assertThat(model.record().epoch()).isGreaterThan(epoch);
    assertThat(model.record().brokerMajor()).isEqualTo(4);
  }

  @Test
  void whatABrokerCannotKeepIsNotEnlisted() {
    ModelTokens model = new ModelTokens();
    model.trialFails = true;
    for (int i = 0; i < 3; i++) {
      assertThatThrownBy(() -> steps(model).create(2, TokenQueueType.QUORUM, true))
          .isInstanceOf(LockException.FenceUnavailable.class);
    }
    assertThat(model.isEnlisted()).isFalse();
    model.trialFails = false;
    assertThat(steps(model).create(2, TokenQueueType.QUORUM, true).slots()).isEqualTo(2);
    assertThat(model.isEnlisted()).isTrue();
  }
}
