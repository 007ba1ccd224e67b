package io.amqplocks.tokens;

import static org.assertj.core.api.Assertions.assertThat;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.admin.TokenQueueType;
import io.amqplocks.internal.tokens.TokenQueues;
import io.amqplocks.lock.Lease;
import io.amqplocks.support.Fixture;
import io.amqplocks.test.BrokerTest;
import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.regex.Pattern;
import javax.net.SocketFactory;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The table of ARCHITECTURE: which of our classes are on the way from an acquire to the broker. */
@BrokerTest
class AcquirePathTest {

  private static final Path ARCHITECTURE =
      Path.of("").toAbsolutePath().resolveSibling("docs").resolve("ARCHITECTURE.md");
  private static final String HEADING = "## From `acquire` to the broker";
  private static final Pattern ROW = Pattern.compile("^\\| `(\\w+)` \\|", Pattern.MULTILINE);

  @RegisterExtension private final Fixture fixture = new Fixture();
  private final List<StackTraceElement[]> sent = new CopyOnWriteArrayList<>();

  @Test
  void theWayToTheBrokerIsAsInTheTable() throws Exception {
    ConnectionFactory factory = fixture.broker().connectionFactory();
    factory.setSocketFactory(new Recording());
    AmqpLocks locks = fixture.open(fixture.builder(factory));
    locks.admin().tokenSemaphore("s").create(1, TokenQueueType.CLASSIC);
    locks.tokenSemaphore("s").acquire(Duration.ofSeconds(30)).close();
    sent.clear();
    Lease lease = locks.tokenSemaphore("s").acquire(Duration.ofSeconds(30));
    List<String> way =
        sent.stream()
            .filter(trace -> passes(trace, TokenQueues.class))
            .map(AcquirePathTest::ours)
            .distinct()
            .toList()
            .get(0);
    lease.close();
    assertThat(way).as("the classes from the call to the request").isEqualTo(table());
  }

  private static List<String> table() throws IOException {
    String page = Files.readString(ARCHITECTURE);
    int begin = page.indexOf(HEADING);
    assertThat(begin).as(HEADING).isNotNegative();
    int end = page.indexOf("\n## ", begin + 1);
    return ROW.matcher(page.substring(begin, end < 0 ? page.length() : end))
        .results()
        .map(row -> row.group(1))
        .toList();
  }

  private static boolean passes(StackTraceElement[] trace, Class<?> type) {
    return Arrays.stream(trace).anyMatch(frame -> frame.getClassName().equals(type.getName()));
  }

  /** Our top-level classes, from the call inwards. */
  private static List<String> ours(StackTraceElement[] trace) {
    List<StackTraceElement> frames = Arrays.asList(trace.clone());
    Collections.reverse(frames);
    return frames.stream()
        .map(StackTraceElement::getClassName)
        .filter(name -> name.startsWith("io.amqplocks."))
        .map(name -> name.substring(name.lastIndexOf('.') + 1).replaceFirst("\\$.*", ""))
        .filter(name -> !name.equals(AcquirePathTest.class.getSimpleName()))
        .distinct()
        .toList();
  }

  /** Sockets that record by which way each thread writes to them. */
  private final class Recording extends SocketFactory {

    @Override
    public Socket createSocket() {
      return new Socket() {
        @Override
        public OutputStream getOutputStream() throws IOException {
          return new FilterOutputStream(super.getOutputStream()) {
            @Override
            public void write(byte[] bytes, int offset, int length) throws IOException {
              sent.add(Thread.currentThread().getStackTrace());
              out.write(bytes, offset, length);
            }
          };
        }
      };
    }

    @Override
    public Socket createSocket(String host, int port) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Socket createSocket(String host, int port, InetAddress localHost, int localPort) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Socket createSocket(InetAddress host, int port) {
      throw new UnsupportedOperationException();
    }

    @Override
    public Socket createSocket(
        InetAddress address, int port, InetAddress localAddress, int localPort) {
      throw new UnsupportedOperationException();
    }
  }
}
