package io.amqplocks.internal.tokens.admin;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.internal.tokens.admin.KeyEntry.Look;
import io.amqplocks.internal.tokens.admin.ModelTokens.Crash;
import io.amqplocks.internal.tokens.admin.SweepSteps.Outcome;
import io.amqplocks.lock.LockId;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Sweeps against a model of the broker, with an administrator that dies after each step. */
class SweepStepsTest {

  private static final long DAY = 24 * 60 * 60;
  private static final int SLOTS = 3;

  private final ModelTokens model = new ModelTokens();

  private TokenSteps steps() {
    return new TokenSteps(LockId.tokenSemaphore("s:1"), model, () -> model.minutes);
  }

  private void create(TokenQueueType type) {
    steps().create(SLOTS, type, false);
    model.minutes += 24 * 60;
  }

  private Outcome sweep(@Nullable Look before, long unused) {
    return new SweepSteps(steps()).sweep(before, model.minutes * 60, unused);
  }

  private @Nullable Look look(@Nullable Look before) {
    Outcome outcome = sweep(before, DAY);
    assertThat(outcome.isGone()).isFalse();
    model.minutes += 60;
    return outcome.look();
  }

  @ParameterizedTest
  @EnumSource
  void isRemovedWholeWhenAllLooksInADaySawNoUse(TokenQueueType type) {
    create(type);
    Look look = look(null);
    for (int hour = 1; hour < 24; hour++) {
      look = look(look);
    }
    assertThat(sweep(look, DAY).isGone()).isTrue();
    assertThat(model.queueCount()).isZero();
    assertThat(model.isRemembered()).isFalse();
    // As if it had never been.
    model.strike();
    assertThat(steps().create(2, type, false).slots()).isEqualTo(2);
  }

  @ParameterizedTest
  @EnumSource
  void isNeverRemovedAtTheFirstLook(TokenQueueType type) {
    create(type);
    Outcome first = sweep(null, 0);
    assertThat(first.isGone()).isFalse();
    assertThat(sweep(first.look(), 0).isGone()).isTrue();
  }

  @ParameterizedTest
  @EnumSource
  void isNotRemovedWhileAnybodyHolds(TokenQueueType type) {
    create(type);
    Look look = look(null);
    model.hold(1);
    assertThat(sweep(look, 0)).isEqualTo(Outcome.IN_USE);
    assertThat(model.idleTokens()).hasSize(SLOTS - 1);
    model.release();
    // From the beginning: nothing is known of before.
    Outcome again = sweep(null, 0);
    assertThat(again.isGone()).isFalse();
  }

  /** A classic queue does not count that, and is removed. */
  @ParameterizedTest
  @EnumSource
  void aUseBetweenTwoLooksIsSeenOnAQuorumQueue(TokenQueueType type) {
    create(type);
    Look look = look(null);
    model.hold(1);
    model.release();
    Outcome outcome = sweep(look, 0);
    assertThat(outcome.isGone()).isEqualTo(type == TokenQueueType.CLASSIC);
    if (!outcome.isGone()) {
      assertThat(sweep(outcome.look(), 0).isGone()).isTrue();
    }
  }

  @Test
  void anotherQueueInBetweenIsAUse() {
    create(TokenQueueType.CLASSIC);
    Look look = look(null);
    steps().destroy();
    create(TokenQueueType.CLASSIC);
    assertThat(sweep(look, 0).isGone()).isFalse();
  }

  @Test
  void whatIsYoungerThanAnHourStays() {
    steps().create(SLOTS, TokenQueueType.QUORUM, false);
    Outcome first = sweep(null, 0);
    Outcome second = sweep(first.look(), 0);
    assertThat(second.isGone()).isFalse();
    steps().destroy();
    assertThat(sweep(second.look(), 0)).isEqualTo(Outcome.IN_USE);
    model.minutes += 62;
    assertThat(sweep(null, 0).isGone()).isTrue();
    assertThat(model.isRemembered()).isFalse();
  }

  /** Its creator may have died, and the broker may still have the creator's steps to take. */
  @Test
  void whatIsNotThereIsGoneAtTheSecondLook() {
    Outcome first = sweep(null, DAY);
    assertThat(first.isGone()).isFalse();
    assertThat(sweep(first.look(), DAY).isGone()).isTrue();
    create(TokenQueueType.QUORUM);
    Outcome created = sweep(first.look(), 0);
    assertThat(created.isGone()).isFalse();
  }

  @Test
  void aMessageTooManyIsForAnAdministrator() {
    create(TokenQueueType.QUORUM);
    Look look = look(null);
    model.idleTokens().add(model.idleTokens().get(0));
    assertThat(sweep(look, 0)).isEqualTo(Outcome.IN_USE);
    assertThat(model.idleTokens()).hasSize(SLOTS + 1);
  }

  /** A sweep that dies leaves a semaphore that is whole, or that the next one removes. */
  @ParameterizedTest
  @EnumSource
  void diesAtAnyStep(TokenQueueType type) {
    boolean crashed = true;
    for (int effects = 0; crashed; effects++) {
      SweepStepsTest test = new SweepStepsTest();
      crashed = test.diesAfter(type, effects);
    }
  }

  private boolean diesAfter(TokenQueueType type, int effects) {
    create(type);
    Look look = look(null);
    model.most = 0;
    boolean crashed = false;
    model.effectsLeft = effects;
    try {
      assertThat(sweep(look, 0).isGone()).isTrue();
    } catch (Crash e) {
      crashed = true;
    }
    model.effectsLeft = Integer.MAX_VALUE;
    // Somebody creates it meanwhile, and it is swept again later.
    steps().create(SLOTS, type, true);
    model.hold(SLOTS);
    assertThat(model.most).as("died after %d effects", effects).isLessThanOrEqualTo(SLOTS);
    assertThat(model.usable()).isEqualTo(SLOTS);
    assertThat(sweep(look, 0)).isEqualTo(Outcome.IN_USE);
    model.release();
    model.minutes += 24 * 60;
    assertThat(sweep(sweep(null, 0).look(), 0).isGone()).isTrue();
    assertThat(model.queueCount()).isZero();
    assertThat(model.isRemembered()).isFalse();
    return crashed;
  }
}
