package io.amqplocks.test;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A {@code rabbitmq-server} on this machine.
 *
 * @param version its version, read from the name of a folder of the release
 * @param scripts the folder with its scripts, as seen from inside {@code root}
 * @param root the root of the Debian tree that it lives in; null for the machine's own
 */
record Installation(BrokerVersion version, Path scripts, @Nullable Path root) {

  /** The command line that runs this command where the server lives. */
  List<String> command(String... words) {
    List<String> line = new ArrayList<>();
    if (root != null) {
      line.add("chroot");
      line.add(root.toString());
    }
    line.addAll(List.of(words));
    return line;
  }

  /** Where new folders may be made, as seen from outside. */
  Path temporary() {
    return root == null ? Path.of(System.getProperty("java.io.tmpdir")) : root.resolve("tmp");
  }

  /** A path as the server sees it. */
  String inside(Path path) {
    return root == null ? path.toString() : "/" + root.relativize(path);
  }
}
