package io.amqplocks.sample.demo;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What is to be seen after all that was printed, on a terminal and in a file. */
class ScreenTest {

  private final ByteArrayOutputStream bytes = new ByteArrayOutputStream();
  private final PrintStream out = new PrintStream(bytes, true, StandardCharsets.UTF_8);

  @Test
  void aPictureIsDrawnInItsPlace() {
    Screen screen = new Screen(out, 24);
    screen.progress("Starting ...");
    screen.say("started");
    screen.progress(List.of("slot 1 ####", "slot 2 free"), "1 image");
    screen.progress(List.of("slot 1 free", "slot 2 #"), "2 images");
    assertThat(seen()).containsExactly("started", "slot 1 free", "slot 2 #", "2 images");
  }

  @Test
  void aLineToKeepGoesAboveIt() {
    Screen screen = new Screen(out, 24);
    screen.progress(List.of("slot 1 ####", "slot 2 free"), "1 image");
    screen.say("worker 1 killed");
    screen.say("slot 1 taken by worker 2");
    screen.progress(List.of("slot 1 #"), "2 images");
    assertThat(seen())
        .containsExactly("worker 1 killed", "slot 1 taken by worker 2", "slot 1 #", "2 images");
  }

  @Test
  void nothingOfItIsLeftAtTheEnd() {
    Screen screen = new Screen(out, 24);
    screen.progress(List.of("slot 1 ####", "slot 2 free"), "1 image");
    screen.say("images: 60 uploaded");
    screen.end();
    screen.progress("too late");
    assertThat(seen()).containsExactly("images: 60 uploaded", "");
  }

  @Test
  void aPictureThatDoesNotFitIsALine() {
    Screen screen = new Screen(out, 3);
    screen.progress(List.of("slot 1 ####", "slot 2 free"), "1 image");
    screen.progress(List.of("slot 1 ####", "slot 2 free"), "2 images");
    assertThat(seen()).containsExactly("2 images");
  }

  @Test
  void aFileGetsPlainLines() {
    Screen screen = new Screen(out, 0);
    screen.progress(List.of("slot 1 ####"), "1 image");
    screen.say("images: 60 uploaded");
    screen.end();
    assertThat(bytes.toString(StandardCharsets.UTF_8))
        .isEqualToNormalizingNewlines("images: 60 uploaded\n");
  }

  /** As a terminal shows it that understands what the screen uses. */
  private List<String> seen() {
    List<StringBuilder> lines = new ArrayList<>(List.of(new StringBuilder()));
    int row = 0;
    int column = 0;
    String text = bytes.toString(StandardCharsets.UTF_8);
    for (int index = 0; index < text.length(); index++) {
      char next = text.charAt(index);
      if (next == '\r') {
        column = 0;
      } else if (next == '\n') {
        row++;
        column = 0;
        if (row == lines.size()) {
          lines.add(new StringBuilder());
        }
      } else if (next == '\u001b') {
        int end = index + 2;
        while (!Character.isLetter(text.charAt(end))) {
          end++;
        }
        String number = text.substring(index + 2, end);
        switch (text.charAt(end)) {
          case 'A' -> row -= Integer.parseInt(number);
          case 'J' -> {
            lines.subList(row + 1, lines.size()).clear();
            lines.get(row).setLength(column);
          }
          case 'K' -> lines.get(row).setLength(column);
          default -> assertThat(number).isEqualTo("?7"); // wrapping
        }
        index = end;
      } else {
        StringBuilder line = lines.get(row);
        line.setLength(Math.max(line.length(), column + 1));
        line.setCharAt(column, next);
        column++;
      }
    }
    return lines.stream().map(StringBuilder::toString).toList();
  }
}
