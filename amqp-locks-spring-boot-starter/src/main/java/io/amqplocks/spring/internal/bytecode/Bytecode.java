package io.amqplocks.spring.internal.bytecode;

import java.io.IOException;
import java.io.InputStream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.asm.ClassReader;
import org.springframework.asm.ClassVisitor;
import org.springframework.core.NativeDetector;
import org.springframework.util.ClassUtils;

/** Reads the class files of classes, where there are any. */
final class Bytecode {

  private static final Logger log = LoggerFactory.getLogger(Bytecode.class);

  private Bytecode() {}

  /**
   * Has the visitor see the class as it was compiled, without names of variables and frames.
   *
   * @return false if it cannot be read: it was generated at run time, belongs to a native image, or
   *     is newer than Spring's reader
   */
  static boolean read(Class<?> type, ClassVisitor visitor) {
    if (NativeDetector.inNativeImage() || type.isHidden()) {
      return false;
    }
    try (InputStream file = open(type)) {
      if (file == null) {
        return false;
      }
      new ClassReader(file).accept(visitor, ClassReader.SKIP_DEBUG | ClassReader.SKIP_FRAMES);
      return true;
    } catch (IOException | RuntimeException e) {
      log.debug("The bytecode of {} cannot be read", type.getName(), e);
      return false;
    }
  }

  private static @Nullable InputStream open(Class<?> type) {
    return type.getResourceAsStream(ClassUtils.getClassFileName(type));
  }
}
