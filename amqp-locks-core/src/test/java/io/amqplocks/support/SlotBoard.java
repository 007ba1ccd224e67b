package io.amqplocks.support;

import io.amqplocks.lock.Lease;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteOrder;
import java.nio.MappedByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/**
 * Who holds which slot, in memory that several processes share by a file: each holder enters and
 * leaves within its lease. It counts what must not be: more holders than slots, two in one slot, a
 * fencing token that does not rise.
 *
 * <p>Concurrency: every word is changed by one atomic instruction, which counts between processes
 * too.
 */
public final class SlotBoard {

  private static final VarHandle WORDS =
      MethodHandles.byteBufferViewVarHandle(long[].class, ByteOrder.nativeOrder());

  private static final int HOLDERS = 0;
  private static final int MOST = 8;
  private static final int VIOLATIONS = 16;
  private static final int LEASES = 24;
  private static final int SLOTS = 64;
  private static final int BYTES = 4096;

  private final MappedByteBuffer words;
  private final long capacity;

  /** The board in that file, which is made if need be, of a lock with so many slots. */
  public SlotBoard(Path file, int capacity) {
    this.capacity = capacity;
    try (FileChannel channel =
        FileChannel.open(
            file, StandardOpenOption.READ, StandardOpenOption.WRITE, StandardOpenOption.CREATE)) {
      words = channel.map(MapMode.READ_WRITE, 0, BYTES);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Somebody has a lease now. */
  public void enter(Lease lease, boolean fenced) {
    long now = add(HOLDERS, 1) + 1;
    for (long most = get(MOST); now > most; most = get(MOST)) {
      boolean unused = WORDS.compareAndSet(words, MOST, most, now);
    }
    boolean alone = add(inSlot(lease), 1) == 0;
    boolean rises = true;
    if (fenced) {
      long number = lease.fencingToken().number();
      rises = (long) WORDS.getAndSet(words, inSlot(lease) + 8, number) < number;
    }
    add(VIOLATIONS, now > capacity || !alone || !rises ? 1 : 0);
    add(LEASES, 1);
  }

  /** And will not have it any more. */
  public void leave(Lease lease) {
    add(inSlot(lease), -1);
    add(HOLDERS, -1);
  }

  private static int inSlot(Lease lease) {
    return SLOTS + 16 * lease.slot();
  }

  private long add(int word, long number) {
    return (long) WORDS.getAndAdd(words, word, number);
  }

  private long get(int word) {
    return (long) WORDS.getVolatile(words, word);
  }

  public long most() {
    return get(MOST);
  }

  public long violations() {
    return get(VIOLATIONS);
  }

  public long leases() {
    return get(LEASES);
  }
}
