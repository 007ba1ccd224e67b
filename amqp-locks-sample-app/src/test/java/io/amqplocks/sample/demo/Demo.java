package io.amqplocks.sample.demo;

import io.amqplocks.sample.images.ImageFolder;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * The program behind {@code bin/demo}. It ends with 0 if all went well, with 2 if the options are
 * wrong, else with 1. Whichever way it ends, nothing that it started is left behind.
 */
final class Demo {

  private final DemoOptions options;
  private final Screen screen = new Screen(System.out, Integer.getInteger("sample.terminal", 0));
  private final Belongings belongings = new Belongings();
  private volatile @Nullable Show show;
  private boolean ended;

  private Demo(DemoOptions options) {
    this.options = options;
  }

  /**
   * Runs it. The system property {@code sample.images} names the folder with the images, and {@code
   * sample.terminal} says how many lines the terminal has, if it is one.
   */
  public static void main(String[] args) {
    DemoOptions options;
    try {
      options = DemoOptions.parse(List.of(args));
    } catch (IllegalArgumentException e) {
      System.err.println(e.getMessage());
      System.exit(2);
      return;
    }
    Demo demo = new Demo(options);
    // However it ends, also by Ctrl-C.
    Runtime.getRuntime().addShutdownHook(new Thread(demo::end));
    int status = 1;
    try {
      demo.run();
      status = 0;
    } catch (DemoFailure | IllegalStateException e) {
      demo.screen.say(String.valueOf(e.getMessage()));
    } catch (Exception e) {
      StringWriter trace = new StringWriter();
      e.printStackTrace(new PrintWriter(trace));
      demo.screen.say(trace.toString());
    }
    // Not left to the hook: the broker in this JVM has one as well, and both run at once.
    demo.end();
    System.exit(status);
  }

  private void run() throws IOException, InterruptedException, TimeoutException {
    // First, for a port that is taken should be told at once.
    Page page = new Page(options.port());
    belongings.add(page::close);
    ImageFolder folder = new ImageFolder(Path.of(System.getProperty("sample.images", "images")));
    Stage stage = new Stage(options, folder, screen, belongings);
    Show begun = new Show(options, stage, folder.names(), screen, page);
    page.open(stage);
    screen.say("page: " + page.uri());
    show = begun;
    begun.run();
    begun.check();
  }

  /** Once: whoever comes second waits for the first. */
  private synchronized void end() {
    if (ended) {
      return;
    }
    ended = true;
    Show begun = show;
    if (begun != null) {
      begun.end();
    }
    screen.end();
    belongings.close();
  }
}
