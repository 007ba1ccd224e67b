package io.amqplocks.sample.demo;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.awaitility.core.ConditionTimeoutException;

/** The page of a demo in a real browser: what it shows, and its buttons by the keyboard. */
final class PageInBrowser implements AutoCloseable {

  /** As long as a worker may take to start. */
  private static final Duration PATIENCE = Duration.ofMinutes(3);

  private static final Duration SOON = Duration.ofSeconds(10);
  private static final int BUTTONS_AT_MOST = 30;

  private final Chromium browser;

  private PageInBrowser(Chromium browser) {
    this.browser = browser;
  }

  /** Opens it, as wide as on a desk; where there is no browser, the test is skipped. */
  static PageInBrowser open(String uri) throws IOException {
    Optional<Path> program = Chromium.program();
    assumeTrue(program.isPresent(), "No Chromium on the PATH: bin/verify installs one on Debian");
    Chromium browser = new Chromium(program.orElseThrow());
    browser.size(1180, 800);
    browser.open(uri);
    return new PageInBrowser(browser);
  }

  Chromium browser() {
    return browser;
  }

  /** The texts of the elements that a selector finds. */
  List<String> texts(String selector) {
    return browser
        .value(all(selector) + ".map(one => one.textContent)")
        .valueStream()
        .map(text -> text.asString())
        .toList();
  }

  /** How many elements a selector finds. */
  int number(String selector) {
    return browser.value(all(selector) + ".length").asInt();
  }

  /** A property of the first element that a selector finds, as the browser computes it. */
  String style(String selector, String property) {
    return browser
        .value(
            "getComputedStyle(document.querySelector('%s')).getPropertyValue('%s')"
                .formatted(selector, property))
        .asString();
  }

  /** The id of the element that has the keyboard. */
  String focused() {
    return browser.value("document.activeElement.id").asString();
  }

  /** Goes from button to button by Tab, until it is the one with this name, and hits Enter. */
  void press(String button) {
    for (int tabs = 0; tabs < BUTTONS_AT_MOST; tabs++) {
      if (browser.value("document.activeElement.ariaLabel").asString("").equals(button)) {
        browser.key("Enter", 13, "\r");
        return;
      }
      browser.key("Tab", 9, "");
    }
    throw new AssertionError("Tab does not come to the button " + button);
  }

  /** Waits until that is so. */
  void until(Callable<Boolean> isSo) {
    await().atMost(PATIENCE).until(isSo);
  }

  /** Whether that becomes so in some seconds. */
  boolean isSoon(Callable<Boolean> isSo) {
    try {
      await().atMost(SOON).until(isSo);
      return true;
    } catch (ConditionTimeoutException never) {
      return false;
    }
  }

  /** For whoever wants to look: {@code target/pictures/NAME.png}. */
  void picture(String name) throws IOException {
    Path folder = Files.createDirectories(Path.of("target", "pictures"));
    Files.write(folder.resolve(name + ".png"), browser.png());
  }

  @Override
  public void close() {
    browser.close();
  }

  private static String all(String selector) {
    return "[...document.querySelectorAll('%s')]".formatted(selector);
  }
}
