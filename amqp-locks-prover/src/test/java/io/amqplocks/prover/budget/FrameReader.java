package io.amqplocks.prover.budget;

import com.rabbitmq.client.AMQP;
import com.rabbitmq.client.Method;
import com.rabbitmq.client.impl.AMQImpl;
import java.io.ByteArrayInputStream;
import java.io.DataInputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.util.Arrays;
import java.util.function.ObjIntConsumer;

/**
 * Takes the methods out of the bytes of one direction of a connection. The envelope of a frame is
 * read here, since bytes come in any pieces; the method in it is read by the RabbitMQ client.
 */
final class FrameReader {

  /** {@code AMQP} 0 0 9 1, with which a client begins. */
  private static final int PROTOCOL_HEADER_BYTES = 8;

  /** Type, channel and size. */
  private static final int HEAD_BYTES = 7;

  private final ObjIntConsumer<Method> methods;
  private byte[] unread = {};

  /** Reads for this consumer of methods and of their channels' numbers. */
  FrameReader(ObjIntConsumer<Method> methods) {
    this.methods = methods;
  }

  void read(byte[] bytes) {
    byte[] all = Arrays.copyOf(unread, unread.length + bytes.length);
    System.arraycopy(bytes, 0, all, unread.length, bytes.length);
    ByteBuffer buffer = ByteBuffer.wrap(all);
    boolean more = true;
    while (more) {
      more = readOne(buffer);
    }
    unread = Arrays.copyOfRange(all, buffer.position(), all.length);
  }

  /** Whether there was a whole frame. */
  private boolean readOne(ByteBuffer buffer) {
    int start = buffer.position();
    if (buffer.remaining() < PROTOCOL_HEADER_BYTES) { // The shortest frame is as long as this.
      return false;
    }
    if (buffer.get(start) == 'A') {
      buffer.position(start + PROTOCOL_HEADER_BYTES);
      return true;
    }
    int size = buffer.getInt(start + 3);
    if (buffer.remaining() < HEAD_BYTES + size + 1) {
      return false;
    }
    byte[] payload = new byte[size];
    buffer.position(start + HEAD_BYTES);
    buffer.get(payload);
    if (buffer.get() != (byte) AMQP.FRAME_END) {
      throw new IllegalStateException("A frame does not end where it should");
    }
    if (buffer.get(start) == AMQP.FRAME_METHOD) {
      methods.accept(method(payload), Short.toUnsignedInt(buffer.getShort(start + 1)));
    }
    return true;
  }

  private static Method method(byte[] payload) {
    try {
      return AMQImpl.readMethodFrom(new DataInputStream(new ByteArrayInputStream(payload)));
    } catch (IOException unreadable) {
      throw new UncheckedIOException(unreadable);
    }
  }
}
