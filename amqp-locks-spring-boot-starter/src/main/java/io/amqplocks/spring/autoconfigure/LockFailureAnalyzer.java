package io.amqplocks.spring.autoconfigure;

import io.amqplocks.lock.LockException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.env.Environment;

/**
 * Says what to do about a broker that will not have the locks, where waiting does not help: missing
 * permissions, queues that are there otherwise than wanted, types of queues that it does not have.
 */
final class LockFailureAnalyzer extends AbstractFailureAnalyzer<LockException> {

  private static final Pattern REFUSED =
      Pattern.compile("in vhost '([^']*)' refused for user '([^']*)'");

  private final Environment environment;

  LockFailureAnalyzer(Environment environment) {
    this.environment = environment;
  }

  @Override
  protected @Nullable FailureAnalysis analyze(Throwable rootFailure, LockException cause) {
    String action = action(cause);
    return action == null ? null : new FailureAnalysis(cause.getMessage(), action, cause);
  }

  private @Nullable String action(LockException cause) {
    String said = String.valueOf(cause.getMessage());
    if (cause instanceof LockException.Refused) {
      return mayNot(said) ? permissions(said) : credentials();
    }
    if (cause instanceof LockException.Conflict || recordIsNotThere(cause, said)) {
      return "Something else has made a queue of that name, or has made it otherwise. Let an administrator"
          + " look at it and delete it if nobody needs it; or give the locks other names by"
          + " amqp-locks.queue-prefix, in all processes that share them.";
    }
    if (cause instanceof LockException.Unexpected && said.contains("did not declare queue")) {
      return "See the broker's log. If it does not take queues of that type, choose another one by"
          + " amqp-locks.semaphore-queue-type=classic, or do without tokens by"
          + " amqp-locks.semaphore-algorithm=slots, in all processes that share the semaphores.";
    }
    return null;
  }

  /** What the core finds where another's queue stands for a token semaphore's. */
  private static boolean recordIsNotThere(LockException cause, String said) {
    return cause instanceof LockException.Unexpected && said.startsWith("The record of ");
  }

  /** The words of {@link LockException.Refused} for a user that is known and may not do it. */
  private static boolean mayNot(String message) {
    return message.contains("needs the permissions");
  }

  private String permissions(String message) {
    // By the broker's own words: properties do not tell who a URI, a bean or a provider says it is.
    Matcher who = REFUSED.matcher(message);
    boolean known = who.find();
    String prefix = environment.getProperty("amqp-locks.queue-prefix", "amqp-locks.");
    String queues = "^" + prefix.replaceAll("[^A-Za-z0-9_/-]", "\\\\$0");
    return """
        Give the user the permissions that the locks need, as an administrator:

            rabbitmqctl set_permissions -p '%s' '%s' '%s' '^amq\\.default$' '%s'

        That is configure and read on queues that begin with the prefix, and write on the default exchange. It
        replaces what the user may do on that virtual host: add other work's patterns."""
        .formatted(known ? who.group(1) : "VHOST", known ? who.group(2) : "USER", queues, queues);
  }

  private static String credentials() {
    return "Check spring.rabbitmq.username, spring.rabbitmq.password and spring.rabbitmq.virtual-host, or"
        + " what else configures the application's connection factory; and that the user may access"
        + " that virtual host.";
  }
}
