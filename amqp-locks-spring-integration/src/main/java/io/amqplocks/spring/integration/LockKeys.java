package io.amqplocks.spring.integration;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockName;
import java.io.File;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.temporal.TemporalAccessor;
import java.time.temporal.TemporalAmount;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.UUID;

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

  /**
   * The text of types whose text is their value, in every process. Of others nobody can tell: the
   * order of a set's elements, or what a record says of an array in it, differs between processes.
   * They would have different locks for one key. JDK 19 changed the texts of some doubles and
   * floats.
   */
  private String text(Object key) {
    if (key instanceof Enum<?> constant) {
      return constant.name();
    }
    boolean known =
        key instanceof CharSequence
            || key instanceof UUID
            || key instanceof URI
            || key instanceof File
            || key instanceof Path
            || isOf(key, "java.lang", Boolean.class, Character.class)
            || (isOf(key, "java.lang", Number.class)
                && !(key instanceof Double)
                && !(key instanceof Float))
            || isOf(key, "java.math", Number.class)
            || isOf(key, "java.time", TemporalAccessor.class, TemporalAmount.class);
    if (!known) {
      throw new LockException.Invalid(
          "A lock key of the registry '%s' is a %s, whose text may differ between processes; use a String"
              .formatted(registryKey, key.getClass().getName()));
    }
    return key.toString();
  }

  private static boolean isOf(Object key, String packageName, Class<?>... types) {
    return key.getClass().getPackageName().equals(packageName)
        && Arrays.stream(types).anyMatch(type -> type.isInstance(key));
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
