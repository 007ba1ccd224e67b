package io.amqplocks.sample.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What the page answers, and to whom; without a demo behind it. */
class PageTest {

  private final List<String> pressed = new ArrayList<>();
  private Page page;
  private String authority;

  @BeforeEach
  void open() throws IOException {
    page = new Page(0);
    authority = URI.create(page.uri()).getAuthority();
    page.open(
        new Controls() {
          @Override
          public void resize(int slots) {
            if (slots > 24) {
              throw new IllegalArgumentException("too many");
            }
            pressed.add("resize " + slots);
          }

          @Override
          public void replace(int worker) {
            pressed.add("replace " + worker);
          }

          @Override
          public void cut(int worker) {
            pressed.add("cut " + worker);
          }
        });
  }

  @AfterEach
  void close() {
    page.close();
  }

  @ParameterizedTest
  @CsvSource({
    "/, text/html",
    "/page.css, text/css",
    "/page.js, text/javascript",
    "/icon.svg, image/svg+xml"
  })
  void servesItsFilesAndNothingFromElsewhere(String path, String type) throws IOException {
    String answer = ask("GET " + path, "Host: " + authority);
    assertThat(answer)
        .startsWith("HTTP/1.1 200 ")
        .contains("Content-type: " + type)
        .contains("Content-security-policy: default-src 'self'; frame-ancestors 'none'")
        .doesNotContainPattern("(src|href|url)[=(]\\W*(https?:)?//");
  }

  @Test
  void saysWhatIsNotThere() throws IOException {
    assertThat(ask("GET /../Page.class", "Host: " + authority)).startsWith("HTTP/1.1 404 ");
    assertThat(press("/workers/1/promote")).startsWith("HTTP/1.1 404 ");
    assertThat(ask("PUT /slots/7", "Host: " + authority)).startsWith("HTTP/1.1 405 ");
  }

  @Test
  void pressesButtons() throws IOException {
    assertThat(press("/slots/7")).startsWith("HTTP/1.1 204 ");
    assertThat(press("/workers/2/kill")).startsWith("HTTP/1.1 204 ");
    assertThat(press("/workers/3/cut")).startsWith("HTTP/1.1 204 ");
    assertThat(press("/slots/25")).startsWith("HTTP/1.1 400 ").endsWith("too many");
    assertThat(pressed).containsExactly("resize 7", "replace 2", "cut 3");
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "Origin: http://evil.example",
        "Origin: null",
        "Origin: https://AUTHORITY",
        "Origin: http://AUTHORITY.evil.example",
        "Origin: http://127.0.0.1:1",
        "Origin: http://AUTHORITY\r\nOrigin: http://evil.example",
        "Referer: http://AUTHORITY/"
      })
  void refusesButtonsOfOtherPages(String header) throws IOException {
    String answer =
        ask(
            "POST /workers/2/kill",
            "Host: " + authority,
            "Content-Length: 0",
            header.replace("AUTHORITY", authority));
    assertThat(answer).startsWith("HTTP/1.1 403 ");
    assertThat(pressed).isEmpty();
  }

  @Test
  void refusesOtherPagesThatWatch() throws IOException {
    assertThat(ask("GET /scenes", "Host: " + authority, "Sec-Fetch-Site: cross-site"))
        .startsWith("HTTP/1.1 403 ");
  }

  @ParameterizedTest
  @ValueSource(strings = {"GET /", "GET /scenes", "POST /workers/2/kill"})
  void refusesNamesThatOthersPointedHere(String request) throws IOException {
    String other = "evil.example:" + URI.create(page.uri()).getPort();
    String answer = ask(request, "Host: " + other, "Origin: http://" + other, "Content-Length: 0");
    assertThat(answer).startsWith("HTTP/1.1 403 ").endsWith("This page is at " + page.uri());
    assertThat(pressed).isEmpty();
  }

  @Test
  void tellsWatchersTheEnd() throws Exception {
    try (Watcher watcher = new Watcher(page.uri())) {
      page.end("images: 60 uploaded");
      assertThat(watcher.end()).isEqualTo("images: 60 uploaded");
    }
  }

  @Test
  void aPortThatIsTakenIsNamed() {
    assertThatThrownBy(() -> new Page(URI.create(page.uri()).getPort()))
        .isInstanceOf(DemoFailure.class)
        .hasMessageContaining(authority.replace("127.0.0.1:", "port "))
        .hasMessageContaining("--port");
  }

  private String press(String path) throws IOException {
    return ask(
        "POST " + path, "Host: " + authority, "Origin: http://" + authority, "Content-Length: 0");
  }

  /** By hand, because a client sends no wrong {@code Host}. */
  private String ask(String request, String... headers) throws IOException {
    URI uri = URI.create(page.uri());
    try (Socket socket = new Socket(uri.getHost(), uri.getPort())) {
      String text =
          request
              + " HTTP/1.1\r\n"
              + String.join("\r\n", headers)
              + "\r\nConnection: close\r\n\r\n";
      socket.getOutputStream().write(text.getBytes(StandardCharsets.UTF_8));
      BufferedReader answer =
          new BufferedReader(
              new InputStreamReader(socket.getInputStream(), StandardCharsets.UTF_8));
      return String.join("\n", answer.lines().toList());
    }
  }
}
