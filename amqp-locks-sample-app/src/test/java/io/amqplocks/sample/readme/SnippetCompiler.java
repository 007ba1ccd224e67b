package io.amqplocks.sample.readme;

import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;

/** Compiles sources as an application would, with the class path of this test. */
final class SnippetCompiler {

  private final Path folder;

  SnippetCompiler(Path folder) {
    this.folder = folder;
  }

  /**
   * Compiles them together, by their qualified names.
   *
   * @throws AssertionError with the compiler's messages, if it has any
   */
  ClassLoader compile(Map<String, String> sources) throws IOException {
    JavaCompiler compiler = Objects.requireNonNull(ToolProvider.getSystemJavaCompiler(), "no JDK");
    List<String> options =
        List.of(
            "-d",
            folder.toString(),
            "-classpath",
            System.getProperty("java.class.path"),
            "-proc:none",
            "-parameters", // as Boot's build plugins do, for the names in SpEL
            "--release",
            "17");
    Stream<Source> files =
        sources.entrySet().stream().map(each -> new Source(each.getKey(), each.getValue()));
    StringWriter messages = new StringWriter();
    if (!compiler.getTask(messages, null, null, options, null, files.toList()).call()) {
      throw new AssertionError(messages + "\n" + String.join("\n", sources.values()));
    }
    return new URLClassLoader(
        new URL[] {folder.toUri().toURL()}, SnippetCompiler.class.getClassLoader());
  }

  private static final class Source extends SimpleJavaFileObject {

    private final String text;

    Source(String name, String text) {
      super(
          URI.create("string:///" + name.replace('.', '/') + ".java"), JavaFileObject.Kind.SOURCE);
      this.text = text;
    }

    @Override
    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
      return text;
    }
  }
}
