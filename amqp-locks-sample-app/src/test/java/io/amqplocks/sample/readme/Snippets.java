package io.amqplocks.sample.readme;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The snippets of a page: fenced blocks, each below a comment with its name. Only what is typed
 * into a shell or printed by a program needs no name.
 */
final class Snippets {

  /** Tests run in the folder of their module. */
  private static final Path REPOSITORY = Path.of("").toAbsolutePath().resolveSibling("");

  private static final Pattern BLOCK =
      Pattern.compile(
          "^(?:<!-- snippet: (?<name>\\S+) -->\\n)?```(?<language>\\w*)\\n(?<text>.*?)^```$",
          Pattern.MULTILINE | Pattern.DOTALL);

  private final Map<String, String> named = new HashMap<>();
  private final List<String> nameless = new ArrayList<>();

  Snippets(String page) throws IOException {
    Matcher block = BLOCK.matcher(Files.readString(file(page)));
    while (block.find()) {
      if (block.group("name") != null) {
        named.put(block.group("name"), block.group("text"));
      } else if (!block.group("language").isEmpty()) {
        nameless.add(block.group("text"));
      }
    }
  }

  /** A file of the repository. */
  static Path file(String path) {
    return REPOSITORY.resolve(path);
  }

  Set<String> names() {
    return named.keySet();
  }

  /** Blocks in a language, and yet without a name. */
  List<String> nameless() {
    return nameless;
  }

  String text(String name) {
    String text = named.get(name);
    if (text == null) {
      throw new IllegalArgumentException("no snippet " + name + " among " + names());
    }
    return text;
  }
}
