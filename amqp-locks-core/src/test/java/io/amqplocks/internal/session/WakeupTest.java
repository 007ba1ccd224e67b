package io.amqplocks.internal.session;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.lock.LockId;
import io.amqplocks.support.ClockedClient;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A word goes to one of those who wait; if it was of no use there, it goes on to another. */
@BrokerTest(everyLine = true)
class WakeupTest {

  private static final LockId LOCK = LockId.mutex("l");

  private Fixture fixture;
  private ClockedClient one;
  private ClockedClient two;
  private String queue;

  @BeforeEach
  void open(Broker broker) {
    fixture = new Fixture(broker);
    one = new ClockedClient(broker, Duration.ofSeconds(10));
    two = new ClockedClient(broker, Duration.ofSeconds(10));
    queue = fixture.prefix() + "wake.l";
  }

  @AfterEach
  void close() throws Exception {
    one.close();
    two.close();
    fixture.close();
  }

  private Wakeup listen(ClockedClient client, CountDownLatch woken) {
    return client
        .session()
        .wakes()
        .listen(client.call(LOCK), queue, name -> false, woken::countDown);
  }

  private void say() {
    assertThat(two.session().wakes().tell(LOCK, queue)).isTrue();
  }

  private static void requireWoken(CountDownLatch woken) throws InterruptedException {
    assertThat(woken.await(30, TimeUnit.SECONDS)).isTrue();
  }

  @Test
  void aWordThatNobodyUsedIsPassedOnByTheOneWhoLeaves() throws Exception {
    CountDownLatch first = new CountDownLatch(1);
    Wakeup leaving = listen(one, first);
    say();
    requireWoken(first);
    CountDownLatch second = new CountDownLatch(1);
    try (Closing next = new Closing(listen(two, second))) {
      assertThat(second.getCount()).as("there was one word").isEqualTo(1);
      leaving.close();
      requireWoken(second);
      assertThat(next.wakeup().use()).isTrue();
      assertThat(next.wakeup().use()).as("used once").isFalse();
    }
  }

  @Test
  void aWordThatComesToOneWhoHasLeftIsPassedOn() throws Exception {
    CountDownLatch never = new CountDownLatch(1);
    Wakeup left = listen(one, never);
    left.abandon();
    say();
    CountDownLatch second = new CountDownLatch(1);
    try (Closing next = new Closing(listen(two, second))) {
      requireWoken(second);
      assertThat(next.wakeup().use()).isTrue();
      assertThat(never.getCount()).isEqualTo(1);
    }
    left.close();
  }

  private record Closing(Wakeup wakeup) implements AutoCloseable {
    @Override
    public void close() {
      wakeup.close();
    }
  }
}
