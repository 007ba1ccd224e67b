package io.amqplocks.spring.aspectj;

import io.amqplocks.spring.aspectj.woven.WovenApplication;
import io.amqplocks.test.Broker;
import io.amqplocks.test.BrokerTest;
import io.amqplocks.test.ChildJvm;
import io.amqplocks.test.ChildJvmBuilder;
import java.io.File;
import java.io.IOException;
import java.io.OutputStream;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.jar.JarEntry;
import java.util.jar.JarOutputStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.loader.launch.JarLauncher;
import org.springframework.boot.loader.tools.Library;
import org.springframework.boot.loader.tools.LibraryScope;
import org.springframework.boot.loader.tools.Repackager;

/**
 * Woven by the agent when classes are loaded from the one jar that Boot's Maven plugin makes: the
 * starter with its {@code aop.xml} is a jar within it.
 */
@Tag("one-jdk")
@BrokerTest
class PackagedWeavingTest extends WeavingContract {

  @TempDir private Path folder;

  PackagedWeavingTest(Broker broker) {
    super(broker);
  }

  @Override
  ChildJvmBuilder application() throws IOException {
    // As java -jar does, but that the process ends with this one.
    return ChildJvm.of(JarLauncher.class)
        .jvmArgs("-javaagent:" + weaver("aspectjweaver"))
        .env("CLASSPATH", packaged() + File.pathSeparator + location(ChildJvm.class));
  }

  private Path packaged() throws IOException {
    Path classes = location(WovenApplication.class);
    List<Library> libraries = new ArrayList<>();
    for (String each : System.getProperty("java.class.path").split(File.pathSeparator, -1)) {
      Path library = Path.of(each);
      if (!library.equals(classes) && Files.exists(library)) {
        File jar =
            (Files.isDirectory(library) ? jar(library, "library-" + libraries.size()) : library)
                .toFile();
        libraries.add(new Library(jar, LibraryScope.COMPILE));
      }
    }
    Repackager repackager = new Repackager(jar(classes, "classes").toFile());
    repackager.setMainClass(WovenApplication.class.getName());
    Path packaged = folder.resolve("application.jar");
    repackager.repackage(
        packaged.toFile(),
        callback -> {
          for (Library each : libraries) {
            callback.library(each);
          }
        });
    return packaged;
  }

  /** The classes of a module of this build. */
  private Path jar(Path classes, String name) throws IOException {
    Path jar = folder.resolve(name + ".jar");
    try (OutputStream file = Files.newOutputStream(jar);
        JarOutputStream entries = new JarOutputStream(file);
        Stream<Path> all = Files.walk(classes)) {
      for (Path each : all.filter(Files::isRegularFile).toList()) {
        entries.putNextEntry(new JarEntry(classes.relativize(each).toString()));
        Files.copy(each, entries);
      }
    }
    return jar;
  }

  private static Path location(Class<?> type) throws IOException {
    try {
      return Path.of(type.getProtectionDomain().getCodeSource().getLocation().toURI());
    } catch (URISyntaxException e) {
      throw new IOException(e);
    }
  }
}
