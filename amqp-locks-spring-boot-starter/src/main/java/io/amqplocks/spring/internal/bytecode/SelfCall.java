package io.amqplocks.spring.internal.bytecode;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.asm.ClassVisitor;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;
import org.springframework.asm.SpringAsmInfo;
import org.springframework.util.ClassUtils;

/**
 * A call of a method on {@code this}, or a reference to one such as {@code this::upload}.
 *
 * @param caller the name of the method that has it; of one that has it in a lambda; or {@code
 *     <init>}
 * @param callerDescriptor the caller's parameters and its result, as bytecode has them
 * @param name the name of the called method
 * @param descriptor those of the called method
 */
public record SelfCall(String caller, String callerDescriptor, String name, String descriptor) {

  /**
   * All such calls in the class, the classes above it and their interfaces, but for those of Java
   * and Spring. What cannot be read has none. Calls in inner classes, and on {@code this} by
   * another variable, are not seen, nor those of a method that is overridden.
   */
  public static Set<SelfCall> in(Class<?> type) {
    Set<SelfCall> found = new LinkedHashSet<>();
    Set<String> seen = new HashSet<>();
    for (Class<?> each = type; each != null && !isLibrary(each); each = each.getSuperclass()) {
      Bytecode.read(each, new Finder(found, seen));
    }
    for (Class<?> each : ClassUtils.getAllInterfacesForClass(type)) {
      if (!isLibrary(each)) {
        Bytecode.read(each, new Finder(found, seen));
      }
    }
    return found;
  }

  private static boolean isLibrary(Class<?> type) {
    String name = type.getName();
    return name.startsWith("java.")
        || name.startsWith("jakarta.")
        || name.startsWith("org.springframework.");
  }

  private static final class Finder extends ClassVisitor {
    private final Set<SelfCall> into;
    private final Set<String> seen;
    private final List<SelfCall> calls = new ArrayList<>();
    private final Map<Code, Code> lambdas = new HashMap<>(); // and what they are written in
    private String type = "";

    /** A method or the body of a lambda. */
    private record Code(String name, String descriptor) {}

    Finder(Set<SelfCall> into, Set<String> seen) {
      super(SpringAsmInfo.ASM_VERSION);
      this.into = into;
      this.seen = seen;
    }

    @Override
    public void visit(
        int version,
        int access,
        String name,
        String signature,
        String superName,
        String[] interfaces) {
      type = name;
    }

    @Override
    public MethodVisitor visitMethod(
        int access, String name, String descriptor, String signature, String[] exceptions) {
      boolean bridge = (access & Opcodes.ACC_BRIDGE) != 0;
      boolean ofObject = (access & Opcodes.ACC_STATIC) == 0;
      boolean overridable = (access & Opcodes.ACC_PRIVATE) == 0 && !name.equals("<init>");
      boolean isFirst = seen.add((overridable ? "" : type + ".") + name + descriptor);
      return ofObject && !bridge && isFirst
          ? new SelfCallFinder(
              (called, parameters) -> calls.add(new SelfCall(name, descriptor, called, parameters)),
              body ->
                  lambdas.put(new Code(body.getName(), body.getDesc()), new Code(name, descriptor)))
          : new MethodVisitor(SpringAsmInfo.ASM_VERSION) {};
    }

    /** A lambda's body may come before or after the method that it is written in. */
    @Override
    public void visitEnd() {
      for (SelfCall call : calls) {
        Code caller = method(new Code(call.caller, call.callerDescriptor));
        if (caller != null) {
          into.add(new SelfCall(caller.name, caller.descriptor, call.name, call.descriptor));
        }
      }
    }

    /** The method that it is written in; null if that one is overridden. */
    private @Nullable Code method(Code code) {
      Code outer = code;
      // Bounded, for anybody may give a method the name of a lambda's body.
      for (int i = 0; i <= lambdas.size() && isLambda(outer); i++) {
        outer = lambdas.get(outer);
      }
      return isLambda(outer) ? null : outer;
    }

    private static boolean isLambda(@Nullable Code code) {
      return code != null && code.name.startsWith(SelfCallFinder.LAMBDA);
    }
  }
}
