package io.amqplocks.spring.internal.naming;

import static java.nio.charset.StandardCharsets.UTF_8;

import io.amqplocks.lock.LockException;
import io.amqplocks.lock.LockName;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;

/**
 * Names of locks that share the settings of one name and differ by a key: {@code name:key}.
 *
 * <p>Two keys never make one lock. A name that has keys contains no colon, so the first colon
 * divides the two ({@link LockName#withoutKey}). A key that is not allowed in a lock's name is
 * replaced by its hash. So is a key that looks like a hash.
 */
public final class KeyedName {

  private static final char COLON = ':';
  private static final String HASHED = "#sha256-";
  private static final int HASH_BYTES = HASHED.length() + 64;

  /** The longest name that may have keys: it leaves room for a hash. */
  public static final int MAX_BYTES = LockName.MAX_BYTES - 1 - HASH_BYTES;

  private KeyedName() {}

  /**
   * The name of the lock of that key.
   *
   * @throws LockException.Invalid if the name may not have keys, or the key is blank
   */
  public static String of(String name, String key) {
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
   * Returns the name if it may have keys.
   *
   * @throws LockException.Invalid if it may not
   */
  public static String checked(String name) {
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

  private static boolean fits(String name) {
    try {
      LockName.of(name);
      return true;
    } catch (LockException.Invalid e) {
      return false;
    }
  }

  /**
   * Hashes the key's chars as they are. An encoder would map all unpaired surrogates to the same
   * bytes.
   */
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
