package io.amqplocks.benchmarks.peers;

import io.amqplocks.test.FreePorts;
import java.util.List;

/** A Redis that keeps everything in memory only. */
final class RedisServer {

  private RedisServer() {}

  static PeerServer start() throws Exception {
    String redis = Installed.command("redis-server");
    String version = Installed.version(redis, "--version");
    ServerProcess.Folder folder = ServerProcess.folder("redis");
    int port = FreePorts.next();
    ServerProcess process =
        folder.start(
            "TERM",
            List.of(
                redis,
                "--bind",
                "127.0.0.1",
                "--port",
                Integer.toString(port),
                "--dir",
                folder.path().toString(),
                "--save",
                "",
                "--appendonly",
                "no"));
    process.awaitPort(port);
    return new PeerServer("Redis " + version, "redis://127.0.0.1:" + port, process);
  }
}
