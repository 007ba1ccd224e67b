package io.amqplocks.internal.broker;

import static java.nio.charset.StandardCharsets.UTF_8;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.AuthenticationFailureException;
import com.rabbitmq.client.ChannelContinuationTimeoutException;
import com.rabbitmq.client.Method;
import com.rabbitmq.client.Return;
import com.rabbitmq.client.ShutdownSignalException;
import io.amqplocks.lock.LockException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeoutException;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** The one place that reads reply codes and the client library's exceptions. */
public final class BrokerErrors {

  /**
   * How the text of a refused exclusive consume begins. The rest, "name' in vhost '/' in exclusive
   * use", is cut off after a long name. A missing permission is a 403 too, and its text begins with
   * the refused access. Nothing but the text tells the two apart.
   */
  private static final String IN_EXCLUSIVE_USE = "ACCESS_REFUSED - queue '";

  /** How the text begins if the virtual host, or the cluster, has as many queues as it may have. */
  private static final String OVER_LIMIT = "PRECONDITION_FAILED - cannot declare queue '";

  /** In bytes. Qpid cuts off the rest, and puts dots in its place. */
  private static final int LONGEST_TEXT = 255;

  private static final String CUT = "...";

  /** What Qpid says of a queue that is not there when it is to be declared, consumed or deleted. */
  private static final Pattern NO_QUEUE_OF_QPID =
      Pattern.compile(
          "(Queue: '.*' not found on VirtualHost|No such queue, '|Queue '.*' does not exist).*");

  private BrokerErrors() {}

  /** The meaning of a closed channel if it is a reply that a lock expects, else null. */
  public static @Nullable Answer expected(Throwable failure) {
    ShutdownSignalException signal = signal(failure);
    if (signal == null || signal.isHardError()) {
      return null;
    }
    return switch (replyCode(signal)) {
      // A 404 with another text says that the queue's node is down, which is no answer for a lock.
      case AMQP.NOT_FOUND -> isNoQueue(signal) ? Answer.ABSENT : null;
      case AMQP.RESOURCE_LOCKED -> Answer.LOCKED;
      case AMQP.ACCESS_REFUSED -> text(signal).startsWith(IN_EXCLUSIVE_USE) ? Answer.LOCKED : null;
      default -> null;
    };
  }

  /**
   * The meaning of a channel that a passive declare closed. Only a 404 with "no queue" is a certain
   * no. A 404 with another text says that the queue's node is down, or too slow to answer.
   *
   * @return the answer; {@link Answer#TIMED_OUT} if it is neither yes nor no
   * @throws LockException for a broken connection or a missing permission
   */
  public static Answer looked(Call call, String step, Throwable failure) {
    ShutdownSignalException signal = signal(failure);
    if (signal == null || signal.isHardError() || signal.isInitiatedByApplication()) {
      throw calling(call, step, failure);
    }
    return switch (replyCode(signal)) {
      case AMQP.RESOURCE_LOCKED -> Answer.LOCKED;
      case AMQP.NOT_FOUND -> isNoQueue(signal) ? Answer.ABSENT : Answer.TIMED_OUT;
      case AMQP.ACCESS_REFUSED -> throw calling(call, step, failure);
      default -> Answer.TIMED_OUT;
    };
  }

  /**
   * Whether the broker closed the connection because it was asked for that exclusive queue, which
   * is another connection's own. The requests that the connection had under way fail with the same
   * reason, and only the name tells which one was refused.
   */
  public static boolean isAnothers(String queue, LockException.Unreachable failure) {
    ShutdownSignalException signal = signal(failure);
    if (signal == null || replyCode(signal) != AMQP.NOT_ALLOWED) {
      return false;
    }
    String begin = "Queue '%s' is exclusive".formatted(queue);
    String text = text(signal);
    return text.startsWith(begin)
        || (isCut(text) && begin.startsWith(text.substring(0, text.length() - CUT.length())));
  }

  private static boolean isCut(String text) {
    return text.endsWith(CUT) && text.getBytes(UTF_8).length > LONGEST_TEXT - CUT.length();
  }

  /** Whether the broker returned a message because there is no queue for it (312). */
  public static boolean isUnroutable(Return returned) {
    return returned.getReplyCode() == AMQP.NO_ROUTE;
  }

  /** Whether a transaction failed because a queue did not take its message. */
  public static boolean isUndecided(ShutdownSignalException signal) {
    return !signal.isHardError() && replyCode(signal) == AMQP.PRECONDITION_FAILED;
  }

  /**
   * Whether the broker closed the connection because a queue disappeared while a message was on its
   * way to it (trap 20).
   */
  public static boolean isUndelivered(Throwable failure) {
    ShutdownSignalException signal = signal(failure);
    return signal != null && signal.isHardError() && replyCode(signal) == AMQP.RESOURCE_ERROR;
  }

  /** Whether the broker refused a declare because the queue exists with other properties (406). */
  public static boolean isOtherwise(LockException.Unexpected failure) {
    ShutdownSignalException signal = signal(failure);
    return signal != null
        && replyCode(signal) == AMQP.PRECONDITION_FAILED
        && !text(signal).startsWith(OVER_LIMIT);
  }

  /** Whether the queue exists, but its node is down, or the queue is just being deleted (404). */
  public static boolean isQueueUnavailable(LockException.Unexpected failure) {
    ShutdownSignalException signal = signal(failure);
    return signal != null
        && !signal.isHardError()
        && replyCode(signal) == AMQP.NOT_FOUND
        && !isNoQueue(signal);
  }

  /** Whether the property that differs is durability. */
  static boolean isAboutDurability(LockException.Unexpected failure) {
    return text(failure.getCause()).startsWith("PRECONDITION_FAILED - inequivalent arg 'durable'");
  }

  /** Whether the broker closed the channel because a message was not acknowledged for too long. */
  public static boolean isHeldTooLong(ShutdownSignalException signal) {
    return replyCode(signal) == AMQP.PRECONDITION_FAILED
        && text(signal).startsWith("PRECONDITION_FAILED - delivery acknowledgement on channel");
  }

  /** The error for a connection that could not be opened. */
  static LockException connecting(Call call, String target, Throwable failure) {
    if (failure instanceof AuthenticationFailureException) {
      return new LockException.Refused(
          "RabbitMQ at %s refuses the user name or password, wanted for %s: %s"
              .formatted(target, call.purpose(), text(failure)),
          failure);
    }
    ShutdownSignalException signal = signal(failure);
    boolean notAllowed = signal != null && replyCode(signal) == AMQP.NOT_ALLOWED;
    if (notAllowed && text(failure).contains("connection limit")) {
      // After a break of the network the broker counts the broken connections for a while.
      return new LockException.Unreachable(
          "RabbitMQ at %s takes no more connections now, wanted for %s: %s; raise the limit of the node,"
                  .formatted(target, call.purpose(), text(failure))
              + " the virtual host or the user if that lasts",
          failure);
    }
    if (notAllowed) {
      return new LockException.Refused(
          "RabbitMQ at %s refuses the connection for %s: %s; check the virtual host and the user's"
                  .formatted(target, call.purpose(), text(failure))
              + " access to it",
          failure);
    }
    return new LockException.Unreachable(
        "No connection to RabbitMQ at %s for %s: %s; check that it runs and that host and port are"
                .formatted(target, call.purpose(), text(failure))
            + " right",
        failure);
  }

  /** The error for a step that failed on an open connection. */
  public static LockException calling(Call call, String step, Throwable failure) {
    Throwable cause = failure instanceof ExecutionException ? failure.getCause() : failure;
    if (cause instanceof ChannelContinuationTimeoutException || cause instanceof TimeoutException) {
      return call.unanswered(step);
    }
    ShutdownSignalException signal = signal(failure);
    if (signal != null && replyCode(signal) == AMQP.ACCESS_REFUSED) {
      return new LockException.Refused(
          "RabbitMQ refuses to %s for %s: %s; the user needs the permissions configure and read"
                  .formatted(step, call.purpose(), text(failure))
              + " on the locks' queues, and write on 'amq.default'",
          failure);
    }
    if (signal != null && signal.isInitiatedByApplication()) {
      return new LockException.Unreachable(
          "The session with RabbitMQ ended when asked to %s for %s".formatted(step, call.purpose()),
          failure);
    }
    if (signal == null || signal.isHardError()) {
      return new LockException.Unreachable(
          "The connection to RabbitMQ broke when asked to %s for %s: %s"
              .formatted(step, call.purpose(), text(failure)),
          failure);
    }
    return new LockException.Unexpected(
        "RabbitMQ did not %s for %s: %s".formatted(step, call.purpose(), text(failure)), failure);
  }

  private static String message(Throwable failure) {
    try {
      String message = failure.getMessage();
      return message == null ? failure.getClass().getSimpleName() : message;
    } catch (RuntimeException e) {
      // It may be the application's, of a credentials provider, for instance.
      return failure.getClass().getSimpleName();
    }
  }

  /** The reason of a shutdown in the broker's words. */
  public static String text(@Nullable Throwable failure) {
    if (failure == null) {
      return "no reason given";
    }
    ShutdownSignalException signal = signal(failure);
    if (signal == null) {
      Throwable cause = failure instanceof ExecutionException ? failure.getCause() : failure;
      if (cause == null) {
        return failure.toString();
      }
      return message(cause);
    }
    Method reason = signal.getReason();
    if (reason instanceof AMQP.Channel.Close close) {
      return close.getReplyText();
    }
    if (reason instanceof AMQP.Connection.Close close) {
      return close.getReplyText();
    }
    Throwable cause = signal.getCause();
    return cause == null || cause.getMessage() == null
        ? String.valueOf(signal.getMessage())
        : cause.getMessage();
  }

  private static boolean isNoQueue(ShutdownSignalException signal) {
    String text = text(signal);
    // At its beginning: other texts of a 404 have the queue's name, and any words can be in that.
    return text.startsWith("NOT_FOUND - no queue '") || NO_QUEUE_OF_QPID.matcher(text).matches();
  }

  /** Whether the broker refused it with that reply code. */
  public static boolean isRefusedWith(int replyCode, Throwable failure) {
    ShutdownSignalException signal = signal(failure);
    return signal != null && replyCode(signal) == replyCode;
  }

  private static int replyCode(ShutdownSignalException signal) {
    Method reason = signal.getReason();
    if (reason instanceof AMQP.Channel.Close close) {
      return close.getReplyCode();
    }
    return reason instanceof AMQP.Connection.Close close ? close.getReplyCode() : 0;
  }

  private static @Nullable ShutdownSignalException signal(@Nullable Throwable failure) {
    for (Throwable at = failure; at != null; at = at.getCause()) {
      // An AlreadyClosedException repeats the reason of the shutdown that came before it.
      if (at instanceof ShutdownSignalException signal) {
        return signal;
      }
    }
    return null;
  }
}
