package io.amqplocks.internal.tokens;

import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.internal.broker.BorrowedChannel;
import io.amqplocks.internal.broker.BrokerErrors;
import io.amqplocks.internal.broker.Call;
import io.amqplocks.internal.broker.Delivery;
import io.amqplocks.internal.broker.Futures;
import io.amqplocks.internal.tokens.TokenState.Phase;
import io.amqplocks.internal.tokens.TokenState.ReceivedMessage;
import io.amqplocks.lock.LossReason;
import io.amqplocks.lock.LossReason.Cause;
import java.io.IOException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import java.util.function.UnaryOperator;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A token of this session. It is first awaited. Once its message has arrived, it is held as long as
 * the message is not answered and its channel is open. It is never acknowledged. To verify it, the
 * holder gives it back, and receives a message again: the same token or another one.
 *
 * <p>Concurrency: the whole state is one immutable {@link TokenState} in an atomic reference. Four
 * parties race to change it: arriving messages, the broker's notification of an end, a
 * verification, and a release. Each change is a pure function applied by compare-and-set. The party
 * whose change took a message out of the state answers that message, once. A message that arrives
 * unrequested shows that the broker had given the token away: the message goes back, and the token
 * is lost. An end that this side did not cause is one future that is completed once. Verifications
 * take turns. The file is above 300 lines because all four parties are in it.
 */
public final class HeldToken {

  private static final Logger log = LoggerFactory.getLogger(HeldToken.class);

  private final TokenQueueRef queue;
  private final LongSupplier nanos;
  private final AtomicReference<TokenState> state;
  private final CompletableFuture<LossReason> gone = new CompletableFuture<>();
  private final Semaphore turn = new Semaphore(1);
  private volatile CompletableFuture<Void> coming = new CompletableFuture<>();
  private volatile @Nullable Delivery judged;
  private volatile long givenBackAt;
  private volatile long roundTrip;
  private volatile @Nullable TokenReceiver keeper;
  private volatile boolean displaced;
  private volatile Trust trust = Trust.PROVEN;

  /** How many came late since one was proven; for the thread that has the turn. */
  private volatile int late;

  /** What the verifications so far say of the token that is here, or that is awaited. */
  private enum Trust {
    /** It came back before the queue answered that it had nothing. */
    PROVEN,
    /** The queue answered that it had nothing, and nothing has come since. */
    MISSED,
    /** One came after that. It may be another holder's, which that one gave back to verify it. */
    LATE
  }

  /**
   * Awaits a token on the given channel.
   *
   * @param tag the consumer's tag, or empty if the message is requested by a get
   * @param nanos the time
   */
  HeldToken(TokenQueueRef queue, String tag, BorrowedChannel channel, LongSupplier nanos) {
    this.queue = queue;
    this.nanos = nanos;
    TokenReceiver first = new TokenReceiver(this, tag, channel, false);
    state = new AtomicReference<>(new TokenState(Phase.WAITING, first, null, null, false));
    channel.listen(first);
  }

  TokenQueueRef queueRef() {
    return queue;
  }

  String queue() {
    return queue.queue();
  }

  TokenState state() {
    return state.get();
  }

  /** The receiver that has the message or will receive it. */
  TokenReceiver receiver() {
    return state.get().receiver();
  }

  /** A message arrived at the given receiver. */
  void delivered(TokenReceiver receiver, Delivery message) throws IOException {
    // Read before the message can be seen. A thread that sees it may give it back, and wait for
    // the next one.
    CompletableFuture<Void> awaited = coming;
    Delivery last = judged;
    boolean isOther = last != null && !message.isNextReturnOf(last);
    TokenState before = state.get();
    if (!isOther && trust != Trust.MISSED && before.isGivenBack() && before.awaits(receiver)) {
      madeRoundTrip(givenBackAt);
    }
    TokenState was = state.getAndUpdate(now -> now.came(receiver, message, isOther));
    if (was.awaits(receiver)) {
      awaited.complete(null);
      return;
    }
    if (!was.phase().isFinal() && concerns(receiver)) {
      // First, or the message would be sent to the same consumer again.
      receiver.cancel();
      queue.putBack(message);
      gone(
          new LossReason(
              Cause.REVOKED,
              "RabbitMQ sent a second token of queue %s to the holder of one, so it had given that away"
                  .formatted(queue())));
      return;
    }
    queue.putBack(message);
  }

  /**
   * The broker cancelled the given receiver's consumer. The token is lost at once, whatever the
   * reason.
   */
  void cancelled(TokenReceiver receiver) {
    if (concerns(receiver)) {
      gone(
          new LossReason(
              Cause.REVOKED,
              ("RabbitMQ ended the consumer that held a token of queue %s: the queue was deleted, or"
                      + " its process or node went down, or consumer_timeout was over")
                  .formatted(queue())));
    }
  }

  /** The given receiver's channel was closed. */
  void closed(TokenReceiver receiver, ShutdownSignalException cause) {
    if (cause.isHardError() || !concerns(receiver)) {
      // If the connection closed, the session ends too, and notifies its members itself.
      return;
    }
    String why = BrokerErrors.text(cause);
    gone(
        BrokerErrors.isHeldTooLong(cause)
            ? new LossReason(Cause.HELD_TOO_LONG, why)
            : new LossReason(
                Cause.REVOKED,
                "RabbitMQ closed the channel that held a token of queue %s: %s"
                    .formatted(queue(), why)));
  }

  private boolean concerns(TokenReceiver receiver) {
    TokenState now = state.get();
    return now.receiver().equals(receiver)
        || (now.former() != null && now.former().receiver().equals(receiver));
  }

  /** The broker took the token away. */
  void gone(LossReason reason) {
    if (!end(Phase.GONE).phase().isFinal()) {
      log.debug("A token of queue {} is gone: {}", queue(), reason);
      gone.complete(reason);
      coming.complete(null);
    }
  }

  /**
   * Stops wanting the token.
   *
   * @return the state before, whose phase is final if the token had ended
   */
  TokenState leave() {
    TokenState was = end(Phase.LEFT);
    coming.complete(null);
    return was;
  }

  private TokenState end(Phase end) {
    return state.getAndUpdate(now -> now.ended(end));
  }

  /**
   * Waits for the turn to verify the token; false if another thread has it until the call ends.
   * {@link #turned} ends the turn.
   */
  boolean turn(Call call) {
    return Futures.acquire(turn, call);
  }

  void turned() {
    turn.release();
  }

  /** Completes when the next message arrives or never will; for the thread that has the turn. */
  CompletableFuture<Void> coming() {
    return coming;
  }

  /**
   * Records that the message is about to be given back, and that the next one is to arrive at the
   * given receiver; for the thread that has the turn.
   *
   * @return the message to give back; null if the token is not held any more
   */
  @Nullable ReceivedMessage giveBack(TokenReceiver next) {
    coming = new CompletableFuture<>();
    // Before the state, or it would be in doubt since the last time.
    givenBackAt = nanos.getAsLong();
    TokenState was = change(now -> now.returned(next));
    return was.phase() == Phase.HERE && was.message() != null
        ? new ReceivedMessage(was.receiver(), was.message())
        : null;
  }

  /**
   * Records that a message that is no token came in place of the one that was given back, which was
   * idle for a while then.
   */
  void displaced() {
    displaced = true;
  }

  /** Whether a message that is no token came in its place, and no token since. */
  boolean isDisplaced() {
    return displaced;
  }

  /** How long ago the message was given back that is awaited, in nanoseconds. */
  long awaitedFor() {
    return nanos.getAsLong() - givenBackAt;
  }

  /** Records that the broker has answered what was sent at the given time. */
  void madeRoundTrip(long sentAt) {
    roundTrip = Math.min(nanos.getAsLong() - sentAt, TokenArrivals.LONGEST_IN_HERE);
  }

  /** How long to wait for what was given back before the queue is asked. */
  long usualNanos() {
    return Math.max(TokenArrivals.USUAL, Math.min(2 * roundTrip, TokenArrivals.SOON));
  }

  /** Twice as long as the last time, for a link that is slow. */
  private boolean isOverdue() {
    return awaitedFor() > Math.max(TokenArrivals.SOON, 2 * roundTrip);
  }

  /** Records that nothing will arrive at the given receiver. */
  void revert(TokenReceiver failed) {
    TokenState unused = change(now -> now.reverted(failed));
  }

  /**
   * Records that the message that arrived is not wanted. The token is held by the former receiver's
   * message again.
   *
   * @return the state before, whose message and receiver the caller gives back; null if there was
   *     no former receiver
   */
  @Nullable TokenState decline() {
    TokenState was = change(TokenState::declined);
    return !was.phase().isFinal() && was.former() != null ? was : null;
  }

  /** Takes what the former receiver still has to give back; for one caller only. */
  @Nullable ReceivedMessage takeFormer() {
    return change(TokenState::withoutFormer).former();
  }

  /**
   * As {@link #takeFormer}, but takes nothing if another message came meanwhile. The caller gives
   * the message back at once.
   */
  @Nullable ReceivedMessage takeFormerUnlessCame() {
    givenBackAt = nanos.getAsLong();
    TokenState was = change(TokenState::withoutFormerUnlessCame);
    return was.phase() == Phase.RETURNED && was.message() == null ? was.former() : null;
  }

  private TokenState change(UnaryOperator<TokenState> how) {
    return state.getAndUpdate(how);
  }

  /** Records that the receiver's consumer has the highest priority by now. */
  void keptBy(TokenReceiver receiver) {
    keeper = receiver;
  }

  /** Whether what is given back comes back to its receiver, and to nobody else. */
  boolean hasTopPriority() {
    TokenReceiver now = receiver();
    return now.hasTopPriority() || now.equals(keeper);
  }

  /** Whether its message comes to a consumer, and not by the reply to a request. */
  boolean isConsumed() {
    return !receiver().tag().isEmpty();
  }

  /** Whether its message is here. */
  public boolean isHere() {
    return state.get().phase() == Phase.HERE;
  }

  /** Its message, which must have arrived. */
  Delivery message() {
    Delivery message = state.get().message();
    if (message == null) {
      throw new IllegalStateException("no token of queue " + queue() + " has come yet");
    }
    return message;
  }

  /** Whether this message was judged to be a token of ours. */
  boolean isJudged(Delivery message) {
    return message.equals(judged);
  }

  /**
   * Records that the message that is here was judged to be a token of ours.
   *
   * @param counted whether its count says that it is proven, however late it came
   */
  public void approve(boolean counted) {
    judged = state.get().message();
    displaced = false;
    trust = counted || trust != Trust.MISSED ? Trust.PROVEN : Trust.LATE;
    late = trust == Trust.PROVEN ? 0 : late + 1;
    TokenState unused = change(TokenState::approved);
  }

  /**
   * Records that the queue had nothing for the holder.
   *
   * @return how many tokens came late since one was proven
   */
  int missed() {
    trust = Trust.MISSED;
    return late;
  }

  /** Whether the token that is here came late, so that it is to be proven at once. */
  boolean isLate() {
    return trust == Trust.LATE;
  }

  /**
   * Whether another client may have the token by now: another message arrived for the one that was
   * given back, and it was not judged yet; or the queue had nothing for the holder, and no token
   * was proven since; or nothing arrived for 0.1 s, and for twice as long as the last round trip. A
   * long message may be on its way instead.
   */
  public boolean isDoubtful() {
    TokenState now = state.get();
    boolean overdue = now.isGivenBack() && isOverdue();
    return (now.doubtful() || overdue || trust != Trust.PROVEN) && !now.phase().isFinal();
  }

  /** The text of the message. */
  public String content() {
    return message().content();
  }

  /** How often it was taken and put back before, if the queue counts that. */
  public long returns() {
    return message().returns();
  }

  /** Whether the broker ended it, as far as this process was notified. */
  public boolean isGone() {
    // As the message does: whoever finds that gone finds this too.
    return state.get().phase() == Phase.GONE;
  }

  /**
   * Runs the callback when the broker ends the token, or now if it has, on any thread. The callback
   * must not block.
   */
  public void whenGone(Runnable told) {
    var unused = gone.thenRun(told);
  }

  /** How the broker ended it. */
  public LossReason loss() {
    return Futures.imminent(
        isGone(), gone, new LossReason(Cause.REVOKED, "queue " + queue() + " was deleted"));
  }
}
