package io.amqplocks.sample.worker;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.sun.net.httpserver.HttpServer;
import java.awt.image.BufferedImage;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.amqp.AmqpRejectAndDontRequeueException;
import org.springframework.util.unit.DataSize;
import org.springframework.web.client.HttpClientErrorException;

/** A message that fails each time would come back at once, for ever. */
class ImageWorkerTest {

  @TempDir Path folder;
  private volatile int status = 422;
  private HttpServer receiver;
  private ImageWorker worker;

  @BeforeEach
  void start() throws IOException {
    receiver = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
    receiver.createContext(
        "/",
        exchange -> {
          exchange.getRequestBody().readAllBytes();
          exchange.sendResponseHeaders(status, -1);
          exchange.close();
        });
    receiver.start();
    URI uri = URI.create("http://localhost:" + receiver.getAddress().getPort());
    WorkerProperties properties =
        new WorkerProperties("todo", folder, uri, Duration.ofSeconds(1), DataSize.ofMegabytes(100));
    worker = new ImageWorker(properties, new Uploader(properties));
  }

  @AfterEach
  void stop() {
    receiver.stop(0);
  }

  @Test
  void aNameThatNoFileCanHaveIsRejected() {
    assertThatExceptionOfType(AmqpRejectAndDontRequeueException.class)
        .isThrownBy(() -> worker.work("a\u0000.jpg"));
  }

  @Test
  void anImageForWhichTheReceiverHasNoTimeIsNotRejected() throws IOException {
    status = 429;
    writeImage();
    assertThatExceptionOfType(HttpClientErrorException.class)
        .isThrownBy(() -> worker.work("b.png"));
  }

  private void writeImage() throws IOException {
    BufferedImage image = new BufferedImage(3, 2, BufferedImage.TYPE_INT_RGB);
    ImageIO.write(image, "png", folder.resolve("b.png").toFile());
  }

  @Test
  void anImageThatTheReceiverRefusesIsRejected() throws IOException {
    writeImage();
    assertThatExceptionOfType(AmqpRejectAndDontRequeueException.class)
        .isThrownBy(() -> worker.work("b.png"))
        .withMessageContaining("The receiver would refuse it again");
  }
}
