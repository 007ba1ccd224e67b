package io.amqplocks.sample.demo;

import java.io.BufferedReader;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.WebSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.springframework.util.FileSystemUtils;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A headless Chromium with one page, driven by its DevTools protocol. For one thread. */
final class Chromium implements AutoCloseable {

  private static final Duration ANSWER = Duration.ofMinutes(2);
  private static final String LISTENING = "DevTools listening on ";

  private static final List<String> OPTIONS =
      List.of(
          "--headless",
          // Which root may not have; it opens no page but ours.
          "--no-sandbox",
          "--disable-gpu",
          "--disable-quic",
          "--disable-dev-shm-usage",
          "--no-first-run",
          "--disable-background-networking",
          "--disable-component-update",
          "--disable-sync",
          "--hide-scrollbars",
          "--remote-debugging-port=0");

  private final JsonMapper json = JsonMapper.builder().build();
  private final AtomicInteger commands = new AtomicInteger();
  private final Map<Integer, CompletableFuture<JsonNode>> answers = new ConcurrentHashMap<>();
  private final Path profile;
  private final Process process;
  private final Thread atExit;
  private final WebSocket socket;
  private final String session;

  /** The program, if this machine has it. */
  static Optional<Path> program() {
    return Stream.of(Objects.requireNonNullElse(System.getenv("PATH"), "").split(":"))
        .flatMap(
            folder ->
                Stream.of("chromium", "chromium-headless-shell", "google-chrome")
                    .map(name -> Path.of(folder, name)))
        .filter(Files::isExecutable)
        .findFirst();
  }

  Chromium(Path program) throws IOException {
    this.profile = Files.createTempDirectory("chromium");
    List<String> command = new ArrayList<>(List.of(program.toString()));
    command.addAll(OPTIONS);
    command.add("--user-data-dir=" + profile);
    this.process =
        new ProcessBuilder(command)
            .redirectErrorStream(true)
            .redirectInput(ProcessBuilder.Redirect.PIPE)
            .start();
    // Also if the tests are interrupted.
    this.atExit = new Thread(() -> kill(process), "chromium-close");
    Runtime.getRuntime().addShutdownHook(atExit);
    try {
      this.socket =
          HttpClient.newHttpClient()
              .newWebSocketBuilder()
              .buildAsync(URI.create(address()), new Listener())
              .join();
      String target =
          ask("", "Target.createTarget", Map.of("url", "about:blank")).path("targetId").asString();
      this.session =
          ask("", "Target.attachToTarget", Map.of("targetId", target, "flatten", true))
              .path("sessionId")
              .asString();
    } catch (IOException | RuntimeException failed) {
      end();
      throw failed;
    }
  }

  /** Goes to this address. */
  void open(String uri) {
    ask("Page.enable", Map.of());
    ask("Page.navigate", Map.of("url", uri));
  }

  /** The value of an expression in the page. */
  JsonNode value(String expression) {
    JsonNode answer =
        ask("Runtime.evaluate", Map.of("expression", expression, "returnByValue", true));
    if (answer.has("exceptionDetails")) {
      throw new IllegalStateException(expression + ": " + answer.path("exceptionDetails"));
    }
    return answer.path("result").path("value");
  }

  /** The size of its window, in pixels. */
  void size(int width, int height) {
    ask(
        "Emulation.setDeviceMetricsOverride",
        Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", width < 600));
  }

  /** What the user's system prefers, as in {@code prefers-color-scheme} and {@code dark}. */
  void prefers(String feature, String value) {
    ask(
        "Emulation.setEmulatedMedia",
        Map.of("features", List.of(Map.of("name", feature, "value", value))));
  }

  /** Presses and releases a key, as in {@code Tab}. */
  void key(String key, int code, String text) {
    Map<String, Object> pressed =
        Map.of(
            "type",
            "keyDown",
            "key",
            key,
            "code",
            key,
            "windowsVirtualKeyCode",
            code,
            "text",
            text);
    ask("Input.dispatchKeyEvent", pressed);
    ask(
        "Input.dispatchKeyEvent",
        Map.of("type", "keyUp", "key", key, "code", key, "windowsVirtualKeyCode", code));
  }

  /** What a screen reader gets: each node's role and name. */
  List<String> accessible() {
    ask("Accessibility.enable", Map.of());
    List<String> nodes = new ArrayList<>();
    for (JsonNode node : ask("Accessibility.getFullAXTree", Map.of()).path("nodes")) {
      if (!node.path("ignored").asBoolean()) {
        nodes.add(
            node.path("role").path("value").asString("")
                + " "
                + node.path("name").path("value").asString(""));
      }
    }
    return nodes;
  }

  /** A picture of the whole page. */
  byte[] png() {
    String data =
        ask("Page.captureScreenshot", Map.of("format", "png", "captureBeyondViewport", true))
            .path("data")
            .asString();
    return Base64.getDecoder().decode(data);
  }

  @Override
  public void close() {
    socket.abort();
    end();
    Runtime.getRuntime().removeShutdownHook(atExit);
  }

  private static void kill(Process browser) {
    // Children first, for a killed browser leaves them behind.
    browser.descendants().forEach(ProcessHandle::destroyForcibly);
    browser.destroyForcibly();
  }

  private void end() {
    kill(process);
    try {
      process.waitFor(ANSWER.toSeconds(), TimeUnit.SECONDS);
      FileSystemUtils.deleteRecursively(profile);
    } catch (IOException left) {
      // In the folder of temporary files.
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private String address() throws IOException {
    BufferedReader output = process.inputReader();
    StringBuilder said = new StringBuilder();
    for (String line = output.readLine(); line != null; line = output.readLine()) {
      if (line.startsWith(LISTENING)) {
        return line.substring(LISTENING.length());
      }
      said.append(line).append('\n');
    }
    throw new IOException("Chromium ended:\n" + said);
  }

  private JsonNode ask(String method, Map<String, ?> params) {
    return ask(session, method, params);
  }

  private JsonNode ask(String to, String method, Map<String, ?> params) {
    int id = commands.incrementAndGet();
    CompletableFuture<JsonNode> answer = new CompletableFuture<>();
    answers.put(id, answer);
    Map<String, Object> command =
        to.isEmpty()
            ? Map.of("id", id, "method", method, "params", params)
            : Map.of("id", id, "method", method, "params", params, "sessionId", to);
    socket.sendText(json.writeValueAsString(command), true).join();
    try {
      JsonNode said = answer.get(ANSWER.toSeconds(), TimeUnit.SECONDS);
      if (said.has("error")) {
        throw new IllegalStateException(method + ": " + said.path("error"));
      }
      return said.path("result");
    } catch (ExecutionException | TimeoutException failed) {
      throw new IllegalStateException(method + " was not answered", failed);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("Interrupted at " + method, interrupted);
    }
  }

  private final class Listener implements WebSocket.Listener {

    private final StringBuilder parts = new StringBuilder();

    @Override
    public CompletionStage<?> onText(WebSocket from, CharSequence data, boolean last) {
      parts.append(data);
      if (last) {
        JsonNode message = json.readTree(parts.toString());
        parts.setLength(0);
        CompletableFuture<JsonNode> answer = answers.remove(message.path("id").asInt(0));
        if (answer != null) {
          answer.complete(message);
        }
      }
      from.request(1);
      return CompletableFuture.completedFuture(null);
    }
  }
}
