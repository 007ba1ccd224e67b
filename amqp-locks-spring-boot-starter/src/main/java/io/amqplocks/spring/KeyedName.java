package io.amqplocks.spring;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.LockName;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.Optional;

/**
 * Names of locks that share the settings of one name and differ by a key: {@code name:key}.
 *
 * <p>Two keys never make one lock: a name that has keys has no colon, so the first one divides; a key
 * that cannot stand in a lock's name is replaced by its hash, and so is one that looks like a hash.
 */
final class KeyedName {

  private static final char COLON = ':';
  private static final String HASHED = "#sha256-";
  private static final int HASH_BYTES = HASHED.length() + 64;

  /** The longest name that may have keys: it leaves room for a hash. */
  static final int MAX_BYTES = LockName.MAX_BYTES - 1 - HASH_BYTES;

  private KeyedName() {}

  /**
   * The name of that key's lock.
   *
   * @throws LockException.Invalid if the name may not have keys, or the key is blank
   */
  static String of(String name, String key) {
    checked(name);
    if (key.isBlank()) {
      throw new LockException.Invalid(
          "The key of the lock '%s' is blank: give it one, or use the lock without a key"
              .formatted(name));
    }
    String readable = name + COLON + key;
    return fits(readable) && !key.startsWith(HASHED) ? readable : name + COLON + HASHED + hash(key);
  }

  /**
   * The name, if it may have keys.
   *
   * @throws LockException.Invalid if not
   */
  static String checked(String name) {
    if (name.indexOf(COLON) >= 0) {
      throw new LockException.Invalid(
          "The name of a lock with keys must have no colon, which divides the two: '" + name + "'");
    }
    if (LockName.of(name).value().getBytes(UTF_8).length > MAX_BYTES) {
      throw new LockException.Invalid(
          "The name of a lock with keys must have %d bytes in UTF-8 at most: '%s'"
              .formatted(MAX_BYTES, name));
    }
    return name;
  }

  /** The lock whose settings that one has, if its name has a key. */
  static Optional<LockId> base(LockId id) {
    String name = id.name().value();
    int colon = name.indexOf(COLON);
    return colon < 1
        ? Optional.empty()
        : Optional.of(new LockId(id.kind(), LockName.of(name.substring(0, colon))));
  }

  private static boolean fits(String name) {
    try {
      LockName.of(name);
      return true;
    } catch (LockException.Invalid e) {
      return false;
    }
  }

  /** Of its chars as they are: every encoder makes one of all halves of surrogate pairs. */
  private static String hash(String key) {
    ByteBuffer chars = ByteBuffer.allocate(key.length() * Character.BYTES);
    chars.asCharBuffer().put(key);
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(chars.array()));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Every JDK has SHA-256", e);
    }
  }
}
