package io.amqplocks.sample.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * The page in a browser with the keyboard alone, on any broker: what a button does is seen on the
 * page. A demo of two workers and five slots is at work.
 */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
abstract class PageKeyboardContract {

  /** {@code --bad} of the page in a light room. */
  private static final String RED = "rgb(179, 38, 30)";

  /** Where the demo serves the page. */
  protected abstract String address();

  @Test
  @Order(10)
  void theKeyboardResizes() throws IOException {
    try (PageInBrowser page = PageInBrowser.open(address())) {
      page.until(() -> isFull(page, 5) && !page.texts("#waiting").equals(List.of("0")));
      picture(page, "full-load");
      page.press("One slot more");
      page.until(() -> page.texts("#count").equals(List.of("6 slots")));
      page.press("One slot more");
      page.until(() -> isFull(page, 7));
      page.until(() -> page.texts("#events .RESIZED span").contains("7 slots now, 6 before"));
    }
  }

  @Test
  @Order(11)
  void theKeyboardCutsConnections() throws IOException {
    try (PageInBrowser page = PageInBrowser.open(address())) {
      int worker = workers(page).get(0);
      // Told to a screen reader, which hears only what happened since the page was opened.
      String loss = "worker %d lost slot ".formatted(worker);
      boolean told = false;
      // A busy machine may cut it when it has just released all that it held: then once more.
      for (int cuts = 0; !told && cuts < 5; cuts++) {
        page.until(() -> isFull(page, 7));
        page.press("Cut connections of worker %d to the broker".formatted(worker));
        told = page.isSoon(() -> page.texts("#losses").get(0).startsWith(loss));
      }
      assertThat(told).isTrue();
      assertThat(page.texts("#events .LOST span")).anyMatch(event -> event.startsWith(loss));
      assertThat(page.style("#events .LOST span", "color")).isEqualTo(RED);
      page.until(() -> page.number("#lanes .cap") > 0);
      assertThat(page.style("#lanes .cap", "fill")).isEqualTo(RED);
      assertThat(Integer.parseInt(page.texts("#lost").get(0))).isPositive();
      // It comes back, and acquires anew.
      page.until(() -> holding(page).contains("worker " + worker) && isFull(page, 7));
    }
  }

  @Test
  @Order(12)
  void theKeyboardKillsAWorker() throws IOException {
    try (PageInBrowser page = PageInBrowser.open(address())) {
      int worker = workers(page).get(1);
      boolean freed = kill(page, worker);
      // A busy machine may kill it when it holds nothing, or nothing whose upload is surely not
      // over. The demo then waits for no slot. So its successor is killed too.
      for (int kills = 1; !freed && kills < 5; kills++) {
        worker++;
        awaitAtWork(page, worker);
        page.until(() -> page.number("#lanes .cap") == 0);
        freed = kill(page, worker);
      }
      assertThat(freed).isTrue();
      picture(page, "kill");
      awaitAtWork(page, worker + 1);
      picture(page, "after-kill");
    }
  }

  /** Returns whether the page shows the red ends of its holds, and that others take its slots. */
  private static boolean kill(PageInBrowser page, int worker) {
    page.press("Kill worker " + worker);
    String killed = "worker %d killed (kill -9), while holding ".formatted(worker);
    page.until(
        () ->
            page.texts("#events .KILLED span").stream()
                .anyMatch(event -> event.startsWith(killed)));
    boolean ended = page.isSoon(() -> page.number("#lanes .cap") > 0);
    if (ended) {
      assertThat(page.style("#lanes .cap", "fill")).isEqualTo(RED);
    }
    // The button's request is answered after the event is shown.
    page.until(() -> page.texts("#said").equals(List.of("Done: kill worker " + worker)));
    page.until(() -> !page.texts("#workers th").contains("Worker " + worker));
    // The button is gone. The keyboard goes on from the table that it was in.
    assertThat(page.focused()).isEqualTo("workers-title");
    return ended && page.isSoon(() -> page.number("#events .FREED") > 0);
  }

  private static void awaitAtWork(PageInBrowser page, int worker) {
    page.until(() -> holding(page).contains("worker " + worker) && isFull(page, 7));
  }

  protected final void picture(PageInBrowser page, String name) throws IOException {
    page.picture(getClass().getSimpleName() + "-" + name);
  }

  /** The two that are at work, each with slots, when the red ends of earlier tests have passed. */
  private static List<Integer> workers(PageInBrowser page) {
    page.until(() -> isFull(page, 7) && page.number("#lanes .cap") == 0);
    assertThat(page.texts("#workers th")).hasSize(2);
    return page.texts("#workers th").stream()
        .map(title -> Integer.parseInt(title.replace("Worker ", "")))
        .toList();
  }

  private static boolean isFull(PageInBrowser page, int slots) {
    List<String> holders = holding(page);
    return holders.size() == slots && !holders.contains("nobody");
  }

  private static List<String> holding(PageInBrowser page) {
    return page.texts("#lanes td:nth-child(2)");
  }
}
