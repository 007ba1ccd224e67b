package io.amqplocks.internal.wakeup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.amqplocks.internal.wakeup.WakeSubscription.Notification;
import io.amqplocks.lock.LockId;
import io.amqplocks.support.ClockedClient;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A word goes to one of those who wait; if it was of no use there, it goes on to another. */
@BrokerTest(everyLine = true)
class WakeSubscriptionTest {

  private static final LockId LOCK = LockId.mutex("l");

  @RegisterExtension private final Fixture fixture = new Fixture();
  private ClockedClient one;
  private ClockedClient two;
  private final AtomicInteger untold = new AtomicInteger();
  private String queue;

  @BeforeEach
  void open(Broker broker) {
    one = new ClockedClient(broker, Duration.ofSeconds(10));
    two = new ClockedClient(broker, Duration.ofSeconds(10));
    queue = fixture.prefix() + "wake.l";
  }

  @AfterEach
  void close() throws Exception {
    assertThat(untold).hasValue(0);
    one.close();
    two.close();
  }

  private WakeSubscription listen(ClockedClient client, CountDownLatch woken) {
    return listen(client, woken::countDown);
  }

  private WakeSubscription listen(ClockedClient client, Runnable wake) {
    return WakeQueues.of(client.session()).listen(client.call(LOCK), queue, name -> false, wake);
  }

  private void say() {
    say(two);
  }

  private void say(ClockedClient client) {
    WakeQueues.of(client.session()).tell(LOCK, queue, untold::incrementAndGet);
  }

  private boolean allWordsAreAnswered() {
    return fixture.broker().faults().queues().stream()
        .filter(each -> each.name().equals(queue))
        .allMatch(each -> each.messages() == 0);
  }

  private static void requireWoken(CountDownLatch woken) throws InterruptedException {
    assertThat(woken.await(30, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void aWordThatNobodyUsedIsPassedOnByTheOneWhoLeaves() throws Exception {
    CountDownLatch first = new CountDownLatch(1);
    WakeSubscription leaving = listen(one, first);
    say();
    requireWoken(first);
    CountDownLatch second = new CountDownLatch(1);
    try (Closing next = new Closing(listen(two, second))) {
      assertThat(second.getCount()).as("there was one word").isEqualTo(1);
      leaving.close();
      requireWoken(second);
      assertThat(next.wakeup().use()).isEqualTo(Notification.OF_OTHERS);
      assertThat(next.wakeup().use()).as("used once").isEqualTo(Notification.NONE);
    }
  }

  /** The queue gives words in turns, so one of two comes to the one who has left. */
  @Test
  void aWordThatComesToOneWhoHasLeftIsPassedOn() throws Exception {
    CountDownLatch never = new CountDownLatch(1);
    WakeSubscription left = listen(one, never);
    left.abandon();
    Semaphore words = new Semaphore(0);
    try (Closing next = new Closing(listen(two, words::release))) {
      for (int word = 1; word <= 2; word++) {
        // Whoever has not answered the last word is sent no other.
        await().until(this::allWordsAreAnswered);
        say();
        assertThat(words.tryAcquire(30, TimeUnit.SECONDS)).as("word %d", word).isTrue();
        // From a session to itself, directly or by the one who has left.
        assertThat(next.wakeup().use()).isNotEqualTo(Notification.NONE);
      }
      assertThat(never.getCount()).isEqualTo(1);
    }
    left.close();
  }

  /** What this client released itself says nothing of others' habits. */
  @Test
  void whoSaidAWordIsKnown() throws Exception {
    Semaphore words = new Semaphore(0);
    try (Closing next = new Closing(listen(two, words::release))) {
      say();
      assertThat(words.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
      assertThat(next.wakeup().use()).isEqualTo(Notification.OF_THIS_SESSION);
      say(one);
      assertThat(words.tryAcquire(30, TimeUnit.SECONDS)).isTrue();
      assertThat(next.wakeup().use()).isEqualTo(Notification.OF_OTHERS);
    }
  }

  /** The first word is said when its channel is open, which comes to nothing here. */
  @Test
  void whoSaysAWordHearsThatNobodyWillBeTold() {
    one.session().announcer().close();
    say(one);
    await().untilAsserted(() -> assertThat(untold).hasValue(1));
    untold.set(0);
  }

  private record Closing(WakeSubscription wakeup) implements AutoCloseable {
    @Override
    public void close() {
      wakeup.close();
    }
  }
}
