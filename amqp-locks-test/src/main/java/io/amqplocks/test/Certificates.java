package io.amqplocks.test;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyStore;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.concurrent.TimeUnit;

/**
 * An authority made up for one test, and one certificate that it signed for this machine, for
 * either end of a connection. Made by the JDK's own {@code keytool}; valid for two days.
 *
 * @param authority the authority's certificate
 * @param certificate the certificate, for {@code localhost} and 127.0.0.1
 * @param key its private key
 */
record Certificates(Path authority, Path certificate, Path key) {

  private static final String PASSWORD = "changeit";

  /** Makes them in that folder, as files in PEM format. */
  static Certificates make(Path folder) {
    Path store = folder.resolve("keys.p12");
    Path request = folder.resolve("request.pem");
    Certificates made =
        new Certificates(
            folder.resolve("authority.pem"),
            folder.resolve("certificate.pem"),
            folder.resolve("key.pem"));
    String names = "SAN=dns:localhost,ip:127.0.0.1";
    pair(store, "authority", "CN=amqp-locks-test", "BC:critical=ca:true");
    pair(store, "node", "CN=localhost", names);
    keytool(store, "authority", "-exportcert", "-rfc", "-file", made.authority.toString());
    keytool(store, "node", "-certreq", "-file", request.toString());
    keytool(
        store,
        "authority",
        "-gencert",
        "-rfc",
        "-validity",
        "2",
        "-ext",
        names,
        "-infile",
        request.toString(),
        "-outfile",
        made.certificate.toString());
    try {
      Files.writeString(made.key, privateKey(store));
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
    return made;
  }

  private static void pair(Path store, String alias, String subject, String extension) {
    keytool(
        store,
        alias,
        "-genkeypair",
        // Seconds faster than RSA, whose primes are to be found.
        "-keyalg",
        "EC",
        "-groupname",
        "secp256r1",
        "-validity",
        "2",
        "-dname",
        subject,
        "-ext",
        extension);
  }

  private static void keytool(Path store, String alias, String... words) {
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "keytool").toString());
    // Each call is a JVM of its own, which does not live long enough for more.
    command.addAll(List.of("-J-XX:TieredStopAtLevel=1", "-J-XX:+UseSerialGC"));
    command.addAll(List.of(words));
    command.addAll(List.of("-alias", alias, "-keystore", store.toString()));
    command.addAll(List.of("-storetype", "PKCS12", "-storepass", PASSWORD));
    try {
      Process keytool = new ProcessBuilder(command).redirectErrorStream(true).start();
      String output = new String(keytool.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      if (!keytool.waitFor(60, TimeUnit.SECONDS) || keytool.exitValue() != 0) {
        throw new IllegalStateException("keytool failed: " + output);
      }
    } catch (IOException failed) {
      throw new UncheckedIOException("Cannot run keytool", failed);
    } catch (InterruptedException interrupted) {
      Thread.currentThread().interrupt();
      throw new IllegalStateException("Interrupted while making certificates", interrupted);
    }
  }

  private static String privateKey(Path store) {
    try {
      KeyStore keys = KeyStore.getInstance(store.toFile(), PASSWORD.toCharArray());
      byte[] key = keys.getKey("node", PASSWORD.toCharArray()).getEncoded();
      return "-----BEGIN PRIVATE KEY-----\n"
          + Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(key)
          + "\n-----END PRIVATE KEY-----\n";
    } catch (GeneralSecurityException | IOException failed) {
      throw new IllegalStateException("Cannot read the private key", failed);
    }
  }
}
