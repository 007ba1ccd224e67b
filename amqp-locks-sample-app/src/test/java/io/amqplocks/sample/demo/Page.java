package io.amqplocks.sample.demo;

import com.sun.net.httpserver.Headers;
import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import io.amqplocks.lock.LockException;
import java.io.IOException;
import java.io.InputStream;
import java.net.BindException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The page of the demo, on this machine only: three files, the scenes as server-sent events, and
 * the buttons.
 *
 * <p>Other pages in the same browser can send requests here too. So each request must name this
 * server as its host, which a name that was pointed to 127.0.0.1 does not, and each that changes
 * something must come from this page by its {@code Origin}, which browsers add to every POST. No
 * other page may put this one into a frame, for somebody might click on what he does not see.
 */
final class Page implements AutoCloseable {

  private static final Map<String, String> FILES =
      Map.of(
          "/", "index.html",
          "/page.css", "page.css",
          "/page.js", "page.js",
          "/icon.svg", "icon.svg");

  private static final Map<String, String> TYPES =
      Map.of(
          "html", "text/html; charset=utf-8",
          "css", "text/css; charset=utf-8",
          "js", "text/javascript; charset=utf-8",
          "svg", "image/svg+xml");

  private static final byte[] LOOPBACK = {127, 0, 0, 1};

  private static final Pattern RESIZE = Pattern.compile("/slots/(-?\\d{1,6})");
  private static final Pattern WORKER = Pattern.compile("/workers/(\\d{1,6})/(kill|cut)");

  private final HttpServer server;
  private final ExecutorService threads =
      Executors.newCachedThreadPool(
          task -> {
            Thread thread = new Thread(task, "demo-page");
            thread.setDaemon(true);
            return thread;
          });
  private final SceneStream scenes = new SceneStream();
  private @Nullable Controls controls;

  /**
   * Takes the port. Requests are kept until {@link #open}.
   *
   * @param port the port, or 0 for any free one
   * @throws DemoFailure if it is taken
   */
  Page(int port) throws IOException {
    try {
      this.server =
          HttpServer.create(new InetSocketAddress(InetAddress.getByAddress(LOOPBACK), port), 0);
    } catch (BindException taken) {
      throw new DemoFailure(
          "The page cannot have port %d (%s): choose another --port"
              .formatted(port, taken.getMessage()));
    }
  }

  /** Where it is. */
  String uri() {
    return "http://" + authority("127.0.0.1") + "/";
  }

  /** Serves it, from now on. */
  void open(Controls buttons) {
    controls = buttons;
    server.setExecutor(threads);
    server.createContext("/", this::answer);
    server.start();
  }

  /** Shows this from now on. */
  void show(Scene scene) {
    scenes.publish(scene);
  }

  /** Tells those who watch what came out of it, and that there is no more. */
  void end(String result) {
    scenes.end(result);
    close();
  }

  @Override
  public void close() {
    server.stop(0);
    threads.shutdownNow();
  }

  private void answer(HttpExchange exchange) throws IOException {
    try (exchange) {
      Headers headers = exchange.getResponseHeaders();
      headers.set("Cache-Control", "no-store");
      headers.set("X-Content-Type-Options", "nosniff");
      headers.set("X-Frame-Options", "DENY");
      headers.set("Referrer-Policy", "no-referrer");
      headers.set("Content-Security-Policy", "default-src 'self'; frame-ancestors 'none'");
      String host = one(exchange, "Host");
      if (host == null
          || !(host.equals(authority("127.0.0.1")) || host.equals(authority("localhost")))) {
        text(exchange, 403, "This page is at " + uri());
        return;
      }
      switch (exchange.getRequestMethod()) {
        case "GET" -> get(exchange);
        case "POST" -> post(exchange, host);
        default -> {
          headers.set("Allow", "GET, POST");
          text(exchange, 405, "Only GET and POST");
        }
      }
    }
  }

  private void get(HttpExchange exchange) throws IOException {
    String path = exchange.getRequestURI().getPath();
    if (path.equals("/scenes")) {
      // Another page could not read them, but watch until nobody else can.
      String from = one(exchange, "Sec-Fetch-Site");
      if (from == null || from.equals("same-origin") || from.equals("none")) {
        scenes.send(exchange);
      } else {
        text(exchange, 403, "Only the page itself may do that");
      }
      return;
    }
    String file = FILES.get(path);
    if (file == null) {
      text(exchange, 404, "There is no " + path);
      return;
    }
    try (InputStream stream = Page.class.getResourceAsStream("/demo-page/" + file)) {
      if (stream == null) {
        throw new IOException("Not on the class path: demo-page/" + file);
      }
      String ending = file.substring(file.indexOf('.') + 1);
      send(exchange, 200, TYPES.getOrDefault(ending, ""), stream.readAllBytes());
    }
  }

  private void post(HttpExchange exchange, String host) throws IOException {
    if (!("http://" + host).equals(one(exchange, "Origin"))) {
      text(exchange, 403, "Only the page itself may do that");
      return;
    }
    try {
      if (press(exchange.getRequestURI().getPath())) {
        exchange.sendResponseHeaders(204, -1);
      } else {
        text(exchange, 404, "There is no such button");
      }
    } catch (IllegalArgumentException wrong) {
      text(exchange, 400, String.valueOf(wrong.getMessage()));
    } catch (LockException failed) {
      text(exchange, 502, String.valueOf(failed.getMessage()));
    } catch (DemoFailure | IllegalStateException ending) {
      text(exchange, 503, "The demo ends");
    } catch (InterruptedException ending) {
      Thread.currentThread().interrupt();
      text(exchange, 503, "The demo ends");
    }
  }

  private boolean press(String path) throws InterruptedException {
    Controls buttons = controls;
    if (buttons == null) {
      return false;
    }
    Matcher resize = RESIZE.matcher(path);
    if (resize.matches()) {
      buttons.resize(Integer.parseInt(resize.group(1)));
      return true;
    }
    Matcher worker = WORKER.matcher(path);
    if (!worker.matches()) {
      return false;
    }
    int number = Integer.parseInt(worker.group(1));
    if (worker.group(2).equals("kill")) {
      buttons.replace(number);
    } else {
      buttons.cut(number);
    }
    return true;
  }

  private String authority(String host) {
    return host + ":" + server.getAddress().getPort();
  }

  /** The value of a header that is there once. */
  private static @Nullable String one(HttpExchange exchange, String header) {
    List<String> values = exchange.getRequestHeaders().get(header);
    return values != null && values.size() == 1 ? values.get(0) : null;
  }

  private static void text(HttpExchange exchange, int status, String text) throws IOException {
    send(exchange, status, "text/plain; charset=utf-8", text.getBytes(StandardCharsets.UTF_8));
  }

  private static void send(HttpExchange exchange, int status, String type, byte[] bytes)
      throws IOException {
    exchange.getResponseHeaders().set("Content-Type", type);
    exchange.sendResponseHeaders(status, bytes.length);
    exchange.getResponseBody().write(bytes);
  }
}
