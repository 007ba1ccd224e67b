package io.amqplocks.benchmarks;

import java.util.List;
import java.util.stream.Collectors;

/** Tables of generated pages. */
public final class Markdown {

  private Markdown() {}

  /** The first line is the head; the first columns are words, the others numbers. */
  public static String table(List<List<String>> lines, int words) {
    StringBuilder text = new StringBuilder();
    for (int i = 0; i < lines.size(); i++) {
      List<String> line = lines.get(i);
      text.append(i == 0 ? "" : "\n");
      text.append(line.stream().collect(Collectors.joining(" | ", "| ", " |")));
      if (i == 0) {
        text.append("\n|")
            .append("---|".repeat(Math.min(words, line.size())))
            .append("--:|".repeat(Math.max(0, line.size() - words)));
      }
    }
    return text.toString();
  }
}
