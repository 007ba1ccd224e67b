package io.amqplocks.sample.demo;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.function.Predicate;
import tools.jackson.databind.json.JsonMapper;

/** Does what the page does in a browser: reads the scenes, and presses the buttons. */
final class Watcher implements AutoCloseable {

  private static final Duration PATIENCE = Duration.ofMinutes(3);

  private final HttpClient client = HttpClient.newHttpClient();
  private final JsonMapper json = JsonMapper.builder().build();
  private final String page;
  private final InputStream body;
  private final BufferedReader stream;

  /** Begins to watch the page at this address. */
  Watcher(String page) throws IOException, InterruptedException {
    this.page = page;
    this.body =
        client
            .send(
                HttpRequest.newBuilder(URI.create(page + "scenes")).build(),
                BodyHandlers.ofInputStream())
            .body();
    this.stream = new BufferedReader(new InputStreamReader(body, StandardCharsets.UTF_8));
  }

  /** The next scene that is like that. */
  Scene await(Predicate<Scene> wanted) throws IOException {
    long begin = System.nanoTime();
    Scene scene = next();
    while (!wanted.test(scene)) {
      if (System.nanoTime() - begin > PATIENCE.toNanos()) {
        throw new AssertionError("No such scene. The last one: " + scene);
      }
      scene = next();
    }
    return scene;
  }

  /** The next scene. */
  Scene next() throws IOException {
    return json.readValue(data("data: "), Scene.class);
  }

  /** What came out of the demo; passes what is sent before that. */
  String end() throws IOException {
    data("event: end");
    return json.readValue(data("data: "), String.class);
  }

  /** Presses a button as the page does; the answer. */
  HttpResponse<String> press(String path) throws IOException, InterruptedException {
    return press(path, page.substring(0, page.length() - 1));
  }

  /** The same for a page of this origin. */
  HttpResponse<String> press(String path, String origin) throws IOException, InterruptedException {
    return client.send(
        HttpRequest.newBuilder(URI.create(page + path))
            .header("Origin", origin)
            .POST(HttpRequest.BodyPublishers.noBody())
            .build(),
        BodyHandlers.ofString());
  }

  @Override
  public void close() {
    try {
      body.close();
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  private String data(String prefix) throws IOException {
    for (String line = stream.readLine(); line != null; line = stream.readLine()) {
      if (line.startsWith(prefix)) {
        return line.substring(prefix.length());
      }
    }
    throw new IOException("The stream ended before " + prefix);
  }
}
