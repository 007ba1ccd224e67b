package io.amqplocks.spring.integration;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockName;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/** The names of locks, from the keys of messages, which may be any text. */
final class LockKeys {

  private static final String HASHED = "sha256-";

  /** Room for a colon and a hash, in bytes. */
  private static final int LONGEST_HASHED = 1 + HASHED.length() + 64;

  private final String registryKey;

  LockKeys(String registryKey) {
    LockName.of(registryKey);
    if (LockName.MAX_BYTES - LONGEST_HASHED < registryKey.getBytes(UTF_8).length) {
      throw new LockException.Invalid(
          "The registry key '%s' is too long; at most %d bytes of UTF-8 are allowed"
              .formatted(registryKey, LockName.MAX_BYTES - LONGEST_HASHED));
    }
    if (registryKey.indexOf(':') >= 0) {
      throw new LockException.Invalid(
          "The registry key '%s' has a colon, which separates it from the locks' keys; leave it out"
              .formatted(registryKey));
    }
    this.registryKey = registryKey;
  }

  String name(Object key) {
    if (key == null) {
      throw new LockException.Invalid(
          "A lock key of the registry '%s' is null; use a String".formatted(registryKey));
    }
    String text = text(key);
    // A text that looks like a hash is hashed too, so that no two texts have one name.
    if (!text.isEmpty() && !text.startsWith(HASHED)) {
      try {
        return LockName.of(registryKey + ":" + text).value();
      } catch (LockException.Invalid notAsItIs) {
        // Too long, or with characters that no queue's name has.
      }
    }
    return registryKey + ":" + HASHED + hash(text);
  }

  private static String text(Object key) {
    try {
      // What Object says differs between processes: they would not exclude each other.
      if (key.getClass().isArray()
          || key.getClass().getMethod("toString").getDeclaringClass() == Object.class) {
        throw new LockException.Invalid(
            "A lock key of %s has no text that is the same in all processes; use a String"
                .formatted(key.getClass().getName()));
      }
    } catch (NoSuchMethodException impossible) {
      throw new IllegalStateException(impossible);
    }
    return key.toString();
  }

  /** Over the characters as they are: half of a surrogate pair has no encoding in UTF-8. */
  private static String hash(String text) {
    ByteBuffer bytes = ByteBuffer.allocate(2 * text.length());
    text.chars().forEach(c -> bytes.putChar((char) c));
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes.array()));
    } catch (NoSuchAlgorithmException impossible) {
      throw new IllegalStateException(impossible);
    }
  }
}
