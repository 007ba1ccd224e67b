package io.amqplocks.spring.internal.bytecode;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.springframework.asm.ClassVisitor;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.SpringAsmInfo;
import org.springframework.asm.Type;

/**
 * What AspectJ has put into a class when it was compiled. Its class file does not have what was
 * woven at load time.
 */
public final class CompiledAdvice extends ClassVisitor {

  /** The weaver puts the code of a method with advice into another one of such a name. */
  public static final String BODY = "_aroundBody";

  private static final Type JOIN_POINT = Type.getObjectType("org/aspectj/lang/JoinPoint");

  private final String aspect;
  private final List<Code> bodies = new ArrayList<>();
  private final List<Code> advised = new ArrayList<>();

  private record Code(String name, String descriptor) {

    boolean is(Method method) {
      return name.equals(method.getName()) && descriptor.equals(Type.getMethodDescriptor(method));
    }

    boolean isBodyOf(Method method) {
      return CompiledAdvice.isBodyOf(method, name, descriptor);
    }
  }

  private CompiledAdvice(String aspect) {
    super(SpringAsmInfo.ASM_VERSION);
    this.aspect = aspect;
  }

  /** Reads a class. What cannot be read has none. */
  public static CompiledAdvice of(Class<?> type, String aspect) {
    CompiledAdvice read = new CompiledAdvice(aspect.replace('.', '/'));
    Bytecode.read(type, read);
    return read;
  }

  /** Whether that aspect advises the method. */
  public boolean isAdvised(Method method) {
    return advised.stream().anyMatch(code -> code.is(method) || code.isBodyOf(method));
  }

  /** How many pieces of advice, of any aspect, there are around the method. */
  public long count(Method method) {
    return bodies.stream().filter(code -> code.isBodyOf(method)).count();
  }

  /**
   * Whether a method of the same class has the code of that one. It takes the object if there is
   * one, the method's arguments, and last the join point if the advice asks for it.
   */
  public static boolean isBodyOf(Method method, String name, String descriptor) {
    String start = method.getName() + BODY;
    if (!name.startsWith(start)
        || !name.substring(start.length()).chars().allMatch(Character::isDigit)) {
      return false;
    }
    List<Type> wanted = new ArrayList<>();
    if (!Modifier.isStatic(method.getModifiers())) {
      wanted.add(Type.getType(method.getDeclaringClass()));
    }
    wanted.addAll(List.of(Type.getArgumentTypes(method)));
    List<Type> taken = Arrays.asList(Type.getArgumentTypes(descriptor));
    int number = wanted.size();
    return taken.size() >= number
        && taken.subList(0, number).equals(wanted)
        && (taken.size() == number || taken.get(number).equals(JOIN_POINT));
  }

  @Override
  public MethodVisitor visitMethod(
      int access, String name, String descriptor, String signature, String[] exceptions) {
    Code code = new Code(name, descriptor);
    if (name.contains(BODY)) {
      bodies.add(code);
    }
    return new MethodVisitor(SpringAsmInfo.ASM_VERSION) {
      @Override
      public void visitMethodInsn(
          int opcode, String owner, String called, String parameters, boolean isInterface) {
        if (owner.equals(aspect)) {
          advised.add(code);
        }
      }
    };
  }
}
