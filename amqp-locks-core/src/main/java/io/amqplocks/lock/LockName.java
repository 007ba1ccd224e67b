package io.amqplocks.lock;

import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;

/**
 * A lock's name: 1 to {@value #MAX_BYTES} bytes in UTF-8, without control characters.
 *
 * <p>AMQP allows queue names of 255 bytes. The rest is left for the prefix and for what
 * distinguishes a lock's queues.
 *
 * @param value the name as the user wrote it
 */
public record LockName(String value) {

  /** The longest name, in bytes of UTF-8. */
  public static final int MAX_BYTES = 200;

  /**
   * Checks the name.
   *
   * @throws LockException.Invalid if the name is empty or too long, or has a character that cannot
   *     be part of a queue name
   */
  public LockName {
    int bytes = encodedLength(value);
    if (bytes == 0) {
      throw new LockException.Invalid("A lock name must not be empty");
    }
    if (bytes > MAX_BYTES) {
      throw new LockException.Invalid(
          "The lock name '%s…' is %d bytes long in UTF-8; at most %d are allowed"
              .formatted(value.substring(0, value.offsetByCodePoints(0, 20)), bytes, MAX_BYTES));
    }
    if (value.codePoints().anyMatch(Character::isISOControl)) {
      throw new LockException.Invalid(
          "The lock name '%s' has a control character; leave it out"
              .formatted(value.replaceAll("\\p{Cntrl}", "�")));
    }
  }

  /** Creates a name from that text. */
  public static LockName of(String value) {
    return new LockName(value);
  }

  /**
   * The name before the first colon; empty if this name has no colon, or begins with one. A name
   * with a colon is that of a lock with a key, {@code name:key}. Locks that differ only in their
   * keys share the counters of their {@linkplain AmqpLock#fenced() fencing tokens}.
   */
  public Optional<LockName> withoutKey() {
    int colon = value.indexOf(':');
    return colon < 1 ? Optional.empty() : Optional.of(new LockName(value.substring(0, colon)));
  }

  /** The key of a lock with one: what comes after the first colon. */
  public Optional<String> key() {
    return withoutKey().map(base -> value.substring(base.value.length() + 1));
  }

  private static int encodedLength(String value) {
    try {
      ByteBuffer encoded = StandardCharsets.UTF_8.newEncoder().encode(CharBuffer.wrap(value));
      return encoded.remaining();
    } catch (CharacterCodingException e) {
      throw new LockException.Invalid(
          "The lock name '%s' has half of a surrogate pair and cannot be encoded in UTF-8"
              .formatted(value));
    }
  }

  @Override
  public String toString() {
    return value;
  }
}
