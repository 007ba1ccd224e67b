package io.amqplocks.support;

import java.io.FilterOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import javax.net.SocketFactory;

/** Sockets that count what a client asks its broker for, and can act before it is sent. */
public final class SentMethods extends SocketFactory {

  private static final int BASIC_CONSUME = (60 << 16) | 20;
  private static final int BASIC_GET = (60 << 16) | 70;

  private final AtomicInteger consumes = new AtomicInteger();
  private final AtomicInteger gets = new AtomicInteger();
  private final Map<Integer, Runnable> actions = new ConcurrentHashMap<>();

  /** How many {@code basic.consume} there were so far, on all connections. */
  public int consumes() {
    return consumes.get();
  }

  /** Does that once, before the {@code basic.consume} is sent that many others precede from now. */
  public void beforeConsume(int others, Runnable action) {
    actions.put(consumes() + others + 1, action);
  }

  /** How many {@code basic.get} there were so far, on all connections. */
  public int gets() {
    return gets.get();
  }

  @Override
  public Socket createSocket() {
    return new Socket() {
      @Override
      public OutputStream getOutputStream() throws IOException {
        return new Counting(super.getOutputStream());
      }
    };
  }

  @Override
  public Socket createSocket(String host, int port) {
    throw new UnsupportedOperationException();
  }

  @Override
  public Socket createSocket(String host, int port, InetAddress local, int localPort) {
    throw new UnsupportedOperationException();
  }

  @Override
  public Socket createSocket(InetAddress host, int port) {
    throw new UnsupportedOperationException();
  }

  @Override
  public Socket createSocket(InetAddress host, int port, InetAddress local, int localPort) {
    throw new UnsupportedOperationException();
  }

  /** One connection's, in which the last four bytes may be a method. */
  private final class Counting extends FilterOutputStream {

    private int last;

    Counting(OutputStream out) {
      super(out);
    }

    @Override
    public void write(int b) throws IOException {
      note(b);
      out.write(b);
    }

    @Override
    public void write(byte[] bytes, int from, int length) throws IOException {
      for (int i = from; i < from + length; i++) {
        note(bytes[i]);
      }
      out.write(bytes, from, length);
    }

    private void note(int b) {
      last = (last << 8) | (b & 0xFF);
      if (last == BASIC_GET) {
        gets.incrementAndGet();
      } else if (last == BASIC_CONSUME) {
        Runnable action = actions.remove(consumes.incrementAndGet());
        if (action != null) {
          action.run();
        }
      }
    }
  }
}
