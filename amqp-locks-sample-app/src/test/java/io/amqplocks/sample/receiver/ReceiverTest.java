package io.amqplocks.sample.receiver;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.amqplocks.sample.images.Thumbnail;
import io.amqplocks.sample.receiver.UploadCount.Snapshot;
import java.awt.image.BufferedImage;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.annotation.Autowired;
import org.springframework.boot.test.context.SpringBootTest;
import org.springframework.boot.test.context.SpringBootTest.WebEnvironment;
import org.springframework.boot.test.web.server.LocalServerPort;
import org.springframework.test.annotation.DirtiesContext;
import org.springframework.test.annotation.DirtiesContext.ClassMode;
import org.springframework.test.context.ActiveProfiles;
import org.springframework.web.client.RestClient;
import org.springframework.web.server.ResponseStatusException;

@SpringBootTest(webEnvironment = WebEnvironment.RANDOM_PORT)
@ActiveProfiles("receiver")
@DirtiesContext(classMode = ClassMode.AFTER_CLASS)
class ReceiverTest {

  @LocalServerPort int port;
  @Autowired UploadCount count;

  private final byte[] image = thumbnail();

  @Test
  void countsAnImage() throws IOException {
    var before = count.snapshot();
    assertThat(post(image)).isEqualTo(204);
    var after = count.snapshot();
    assertThat(after.received()).isEqualTo(before.received() + 1);
    assertThat(after.inFlight()).isZero();
  }

  @Test
  void refusesWhatIsNoImage() {
    var before = count.snapshot();
    assertThat(post("not an image".getBytes(US_ASCII))).isEqualTo(422);
    var after = count.snapshot();
    assertThat(after.received()).isEqualTo(before.received());
    assertThat(after.failed()).isEqualTo(before.failed() + 1);
    assertThat(after.inFlight()).isZero();
  }

  @Test
  void whatIsRefusedWasAnUploadAllTheSame() {
    UploadCount alone = new UploadCount();
    InputStream body = new ByteArrayInputStream("not an image".getBytes(US_ASCII));
    assertThatExceptionOfType(ResponseStatusException.class)
        .isThrownBy(() -> new UploadController(alone).receive("a.jpg", body));
    assertThat(alone.snapshot()).isEqualTo(new Snapshot(0, 1, 0, 0, 1));
  }

  /** Linger 0 makes the end a reset, as when a process dies with bytes unread. */
  @ParameterizedTest
  @ValueSource(booleans = {false, true})
  void anUploadEndsWithItsConnection(boolean byReset) throws IOException {
    var before = count.snapshot();
    try (Socket sender = new Socket("localhost", port)) {
      OutputStream out = sender.getOutputStream();
      out.write("POST /images/a.jpg HTTP/1.1\r\nHost: localhost\r\n".getBytes(US_ASCII));
      out.write(("Content-Length: " + image.length + "\r\n\r\n").getBytes(US_ASCII));
      out.write(image, 0, image.length / 2);
      await().atMost(Duration.ofSeconds(30)).until(() -> count.snapshot().inFlight() == 1);
      assertThat(post(image)).isEqualTo(204);
      sender.setSoLinger(byReset, 0);
    }
    await().atMost(Duration.ofSeconds(30)).until(() -> count.snapshot().inFlight() == 0);
    assertThat(count.snapshot().failed()).isEqualTo(before.failed() + 1);
    // No test has two whole uploads at once, and this one broke off.
    assertThat(count.snapshot().most()).isEqualTo(1);
  }

  private int post(byte[] body) {
    return RestClient.create("http://localhost:" + port)
        .post()
        .uri("/images/a.jpg")
        .body(body)
        .exchange((request, response) -> response.getStatusCode().value());
  }

  private static byte[] thumbnail() {
    try {
      return Thumbnail.of("a.jpg", new BufferedImage(960, 640, BufferedImage.TYPE_INT_RGB))
          .open()
          .readAllBytes();
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }
}
