package io.amqplocks.spring.aspectj;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.spring.aspectj.woven.WovenApplication;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.ChildJvm;
import io.amqplocks.test.ChildJvmBuilder;
import java.io.File;
import java.io.IOException;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;

/** Woven by AspectJ's compiler, as its Maven plugin does. */
@Tag("one-jdk")
@BrokerTest
class CompileTimeWeavingTest extends WeavingContract {

  @TempDir private Path folder;

  CompileTimeWeavingTest(Broker broker) {
    super(broker);
  }

  @Override
  ChildJvmBuilder application() throws IOException {
    Path compiled = folder.resolve("compiled");
    Path woven = folder.resolve("woven");
    copyClasses(compiled);
    weave(compiled, woven);
    return ChildJvm.of(WovenApplication.class)
        .env("CLASSPATH", woven + File.pathSeparator + System.getProperty("java.class.path"));
  }

  private static void copyClasses(Path into) throws IOException {
    Path from = Path.of("target", "test-classes");
    Path classes = Path.of("io", "amqplocks", "spring", "aspectj", "woven");
    Files.createDirectories(into.resolve(classes));
    try (Stream<Path> files = Files.list(from.resolve(classes))) {
      for (Path each : files.toList()) {
        Files.copy(each, into.resolve(from.relativize(each)));
      }
    }
  }

  private static void weave(Path compiled, Path woven) throws IOException {
    List<String> command =
        List.of(
            Path.of(System.getProperty("java.home"), "bin", "java").toString(),
            "-XX:TieredStopAtLevel=1",
            "-cp",
            weaver("aspectjtools").toString(),
            "org.aspectj.tools.ajc.Main",
            "-classpath",
            System.getProperty("java.class.path"),
            "-inpath",
            compiled.toString(),
            "-aspectpath",
            starter().toString(),
            "-d",
            woven.toString(),
            "-proc:none");
    ProcessBuilder builder = new ProcessBuilder(command).redirectErrorStream(true);
    Path log = woven.resolveSibling("log");
    Process weaver = builder.redirectOutput(log.toFile()).start();
    try {
      assertThat(weaver.waitFor(3, TimeUnit.MINUTES)).isTrue();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    } finally {
      weaver.destroyForcibly();
    }
    assertThat(weaver.exitValue()).as(Files.readString(log)).isZero();
  }

  private static Path starter() throws IOException {
    try {
      return Path.of(LockAspect.class.getProtectionDomain().getCodeSource().getLocation().toURI());
    } catch (URISyntaxException e) {
      throw new IOException(e);
    }
  }
}
