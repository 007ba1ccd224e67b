package io.amqplocks.internal.broker;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Return;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class BrokerErrorsTest {

  private static final Call CALL =
      Call.on(LockId.slotSemaphore("s"), Duration.ofSeconds(1), Ticker.SYSTEM);

  /** The broker counts connections that broke until it has missed their heartbeats. */
  @ParameterizedTest
  @ValueSource(
      strings = {
        "NOT_ALLOWED - access to vhost '/' refused for user 'u': connection limit (10) is reached",
        "NOT_ALLOWED - connection refused for user 'u': user connection limit (10) is reached",
        "NOT_ALLOWED - node connection limit (10) is reached",
        "NOT_ALLOWED - connection limit cannot be queried, timeout"
      })
  void aConnectionLimitIsAnOutage(String text) {
    LockException error = BrokerErrors.connecting(CALL, "b:5672", closed(true, 530, text));
    assertThat(error)
        .isInstanceOf(LockException.Unreachable.class)
        .hasMessageContaining("takes no more connections now")
        .hasMessageContaining(text);
  }

  @Test
  void aVirtualHostThatDoesNotExistIsARefusal() {
    String text = "NOT_ALLOWED - vhost v not found";
    assertThat(BrokerErrors.connecting(CALL, "b:5672", closed(true, 530, text)))
        .isInstanceOf(LockException.Refused.class)
        .hasMessageContaining("check the virtual host");
  }

  private static ExecutionException closed(boolean connection, int code, String text) {
    return new ExecutionException(
        new ShutdownSignalException(
            connection,
            false,
            connection
                ? new AMQP.Connection.Close.Builder().replyCode(code).replyText(text).build()
                : new AMQP.Channel.Close.Builder().replyCode(code).replyText(text).build(),
            null));
  }

  /** A 404 for a node that is down is no 404 for a queue: that queue may well be held. */
  @Tag("trap-2")
  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '"',
      value = {
        "404,\"NOT_FOUND - no queue 'a' in vhost '/'\",ABSENT",
        "404,\"NOT_FOUND - home node 'r@h' of durable queue 'a' in vhost '/' is down\",TIMED_OUT",
        "404,\"NOT_FOUND - failed to perform operation on queue 'a' in vhost '/' due to timeout\",TIMED_OUT",
        "404,\"NOT_FOUND - home node 'r@h' of durable queue 'no queue 'b' in vhost '/' is down\",TIMED_OUT",
        "404,\"NOT_FOUND - failed to perform operation on queue 'no queue 'b' due to timeout\",TIMED_OUT",
        "405,\"RESOURCE_LOCKED - cannot obtain exclusive access to locked queue 'a'\",LOCKED",
        "406,\"PRECONDITION_FAILED - whatever\",TIMED_OUT"
      })
  void whatAClosedChannelSaysOfAQueue(int code, String text, Answer answer) {
    assertThat(BrokerErrors.looked(CALL, "look", closed(false, code, text))).isEqualTo(answer);
  }

  /** There is no such queue then, so nobody is to delete it. */
  @ParameterizedTest
  @CsvSource(
      quoteCharacter = '"',
      value = {
        "PRECONDITION_FAILED - inequivalent arg 'durable' for queue 'a' in vhost '/',true",
        "PRECONDITION_FAILED - cannot declare queue 'a': queue limit in vhost '/' (10) is reached,false",
        "PRECONDITION_FAILED - cannot declare queue 'a': queue limit in cluster (10) is reached,false"
      })
  void aQueueLimitIsNoOtherQueue(String text, boolean otherwise) {
    LockException error = BrokerErrors.calling(CALL, "declare queue a", closed(false, 406, text));
    assertThat(error).isInstanceOf(LockException.Unexpected.class).hasMessageContaining(text);
    assertThat(BrokerErrors.isOtherwise((LockException.Unexpected) error)).isEqualTo(otherwise);
  }

  @Test
  void whatIsBrokenIsAnException() {
    assertThatThrownBy(() -> BrokerErrors.looked(CALL, "look", closed(false, 403, "no access")))
        .isInstanceOf(LockException.Refused.class);
    assertThatThrownBy(() -> BrokerErrors.looked(CALL, "look", closed(true, 404, "no queue 'a'")))
        .isInstanceOf(LockException.Unreachable.class);
  }

  @ParameterizedTest
  @CsvSource({"312, true", "313, false", "541, false"})
  void onlyAMessageWithoutAQueueIsUnroutable(int replyCode, boolean unroutable) {
    Return returned = new Return(replyCode, "text", "", "q", null, new byte[0]);
    assertThat(BrokerErrors.isUnroutable(returned)).isEqualTo(unroutable);
  }
}
