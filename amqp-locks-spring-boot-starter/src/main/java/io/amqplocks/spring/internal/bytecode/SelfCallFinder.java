package io.amqplocks.spring.internal.bytecode;

import java.util.function.BiConsumer;
import java.util.function.Consumer;
import org.springframework.asm.Handle;
import org.springframework.asm.Label;
import org.springframework.asm.MethodVisitor;
import org.springframework.asm.Opcodes;
import org.springframework.asm.SpringAsmInfo;
import org.springframework.asm.Type;

/** Finds the calls on {@code this} in a method of an object, by following its operand stack. */
final class SelfCallFinder extends MethodVisitor {

  /** How compilers begin the names of the methods that lambdas become. */
  static final String LAMBDA = "lambda$";

  private final OperandStack stack = new OperandStack();
  private final BiConsumer<String, String> found;
  private final Consumer<Handle> lambda;

  /**
   * Tells of each call the name and the descriptor of the called method, and of each lambda the
   * method that is its body.
   */
  SelfCallFinder(BiConsumer<String, String> found, Consumer<Handle> lambda) {
    super(SpringAsmInfo.ASM_VERSION);
    this.found = found;
    this.lambda = lambda;
  }

  @Override
  public void visitMethodInsn(
      int opcode, String owner, String name, String descriptor, boolean isInterface) {
    int sizes = Type.getArgumentsAndReturnSizes(descriptor); // with the object's
    int arguments = opcode == Opcodes.INVOKESTATIC ? (sizes >> 2) - 1 : sizes >> 2;
    boolean isVirtual = opcode == Opcodes.INVOKEVIRTUAL || opcode == Opcodes.INVOKEINTERFACE;
    if (isVirtual && stack.isThis(arguments)) {
      found.accept(name, descriptor);
    }
    stack.pop(arguments);
    stack.push(sizes & 3);
  }

  @Override
  public void visitInvokeDynamicInsn(
      String name, String descriptor, Handle bootstrap, Object... bootstrapArguments) {
    int sizes = Type.getArgumentsAndReturnSizes(descriptor);
    int arguments = (sizes >> 2) - 1;
    boolean ofThis = arguments > 0 && stack.isThis(arguments);
    for (Object each : bootstrapArguments) {
      if (each instanceof Handle method) {
        if (method.getName().startsWith(LAMBDA)) {
          lambda.accept(method);
        } else if (ofThis && isVirtual(method)) {
          found.accept(method.getName(), method.getDesc());
        }
      }
    }
    stack.pop(arguments);
    stack.push(sizes & 3);
  }

  private static boolean isVirtual(Handle method) {
    return method.getTag() == Opcodes.H_INVOKEVIRTUAL
        || method.getTag() == Opcodes.H_INVOKEINTERFACE;
  }

  @Override
  public void visitVarInsn(int opcode, int variable) {
    switch (opcode) {
      case Opcodes.ALOAD -> {
        if (variable == 0) {
          stack.pushThis();
        } else {
          stack.push(1);
        }
      }
      case Opcodes.ILOAD, Opcodes.FLOAD -> stack.push(1);
      case Opcodes.LLOAD, Opcodes.DLOAD -> stack.push(2);
      case Opcodes.LSTORE, Opcodes.DSTORE -> stack.pop(2);
      default -> stack.pop(1);
    }
  }

  @Override
  public void visitFieldInsn(int opcode, String owner, String name, String descriptor) {
    int size = Type.getType(descriptor).getSize();
    switch (opcode) {
      case Opcodes.GETSTATIC -> stack.push(size);
      case Opcodes.PUTSTATIC -> stack.pop(size);
      case Opcodes.GETFIELD -> {
        stack.pop(1);
        stack.push(size);
      }
      default -> stack.pop(size + 1);
    }
  }

  @Override
  public void visitInsn(int opcode) {
    switch (opcode) {
      case Opcodes.NOP,
          Opcodes.INEG,
          Opcodes.LNEG,
          Opcodes.FNEG,
          Opcodes.DNEG,
          Opcodes.I2F,
          Opcodes.F2I,
          Opcodes.L2D,
          Opcodes.D2L,
          Opcodes.I2B,
          Opcodes.I2C,
          Opcodes.I2S -> {}
      case Opcodes.LCONST_0, Opcodes.LCONST_1, Opcodes.DCONST_0, Opcodes.DCONST_1 -> stack.push(2);
      case Opcodes.LALOAD, Opcodes.DALOAD -> replace(2, 2);
      case Opcodes.LASTORE, Opcodes.DASTORE -> stack.pop(4);
      case Opcodes.DUP -> stack.duplicate();
      case Opcodes.DUP_X1 -> replace(2, 3);
      case Opcodes.DUP_X2 -> replace(3, 4);
      case Opcodes.DUP2 -> replace(2, 4);
      case Opcodes.DUP2_X1 -> replace(3, 5);
      case Opcodes.DUP2_X2 -> replace(4, 6);
      case Opcodes.SWAP -> replace(2, 2);
      case Opcodes.I2L, Opcodes.I2D, Opcodes.F2L, Opcodes.F2D -> replace(1, 2);
      case Opcodes.LCMP, Opcodes.DCMPL, Opcodes.DCMPG -> replace(4, 1);
      case Opcodes.ARRAYLENGTH -> replace(1, 1);
      case Opcodes.IRETURN,
          Opcodes.LRETURN,
          Opcodes.FRETURN,
          Opcodes.DRETURN,
          Opcodes.ARETURN,
          Opcodes.RETURN,
          Opcodes.ATHROW ->
          stack.end();
      default -> visitRegular(opcode);
    }
  }

  /** Instructions whose effect on the stack follows from the range of their opcode. */
  private void visitRegular(int opcode) {
    if (opcode <= Opcodes.DCONST_1) { // a constant of one slot
      stack.push(1);
    } else if (opcode <= Opcodes.SALOAD) { // an element of an array
      replace(2, 1);
    } else if (opcode <= Opcodes.SASTORE) {
      stack.pop(3);
    } else if (opcode == Opcodes.POP2) {
      stack.pop(2);
    } else if (opcode >= Opcodes.ISHL && opcode <= Opcodes.LUSHR) {
      stack.pop(1);
    } else if (opcode >= Opcodes.IADD && opcode <= Opcodes.LXOR) {
      stack.pop((opcode - Opcodes.IADD) % 2 == 0 ? 1 : 2);
    } else { // POP, L2I, L2F, D2I, D2F, FCMPL, FCMPG, and those of monitors
      stack.pop(1);
    }
  }

  private void replace(int taken, int left) {
    stack.pop(taken);
    stack.push(left);
  }

  @Override
  public void visitIntInsn(int opcode, int operand) {
    if (opcode != Opcodes.NEWARRAY) { // which takes a length and leaves an array
      stack.push(1);
    }
  }

  @Override
  public void visitTypeInsn(int opcode, String type) {
    switch (opcode) {
      case Opcodes.NEW -> stack.push(1);
      case Opcodes.CHECKCAST -> {}
      default -> replace(1, 1);
    }
  }

  @Override
  public void visitLdcInsn(Object value) {
    boolean wide =
        value instanceof Long
            || value instanceof Double
            || (value instanceof org.springframework.asm.ConstantDynamic dynamic
                && dynamic.getSize() == 2);
    stack.push(wide ? 2 : 1);
  }

  @Override
  public void visitMultiANewArrayInsn(String descriptor, int dimensions) {
    replace(dimensions, 1);
  }

  @Override
  public void visitJumpInsn(int opcode, Label label) {
    if (opcode != Opcodes.GOTO) {
      boolean ofTwo = opcode >= Opcodes.IF_ICMPEQ && opcode <= Opcodes.IF_ACMPNE;
      stack.pop(ofTwo ? 2 : 1);
    }
    stack.jumpTo(label);
    if (opcode == Opcodes.GOTO) {
      stack.end();
    }
  }

  @Override
  public void visitTableSwitchInsn(int min, int max, Label otherwise, Label... labels) {
    branch(otherwise, labels);
  }

  @Override
  public void visitLookupSwitchInsn(Label otherwise, int[] keys, Label[] labels) {
    branch(otherwise, labels);
  }

  private void branch(Label otherwise, Label[] labels) {
    stack.pop(1);
    stack.jumpTo(otherwise);
    for (Label each : labels) {
      stack.jumpTo(each);
    }
    stack.end();
  }

  @Override
  public void visitTryCatchBlock(Label start, Label end, Label handler, String type) {
    stack.handleAt(handler);
  }

  @Override
  public void visitLabel(Label label) {
    stack.arriveAt(label);
  }
}
