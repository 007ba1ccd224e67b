package io.amqplocks.kotlin

import io.amqplocks.lock.AmqpLock
import io.amqplocks.lock.FencingToken
import io.amqplocks.lock.Lease
import io.amqplocks.lock.LeaseState
import io.amqplocks.lock.LockException
import java.util.concurrent.CompletionException
import kotlin.coroutines.resumeWithException
import kotlin.time.Duration
import kotlin.time.toJavaDuration
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.asExecutor
import kotlinx.coroutines.cancel
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.suspendCancellableCoroutine
import kotlinx.coroutines.withContext

/** Threads beside those of [Dispatchers.IO], which may all wait for the lock that is released. */
private val releases = Dispatchers.IO.limitedParallelism(16)

/**
 * Not on [Dispatchers.Default]: blocks that only a cancellation ends may keep all its threads busy.
 */
private val cancellations = Dispatchers.IO.limitedParallelism(16)

/**
 * Acquires a slot as [AmqpLock.acquire] does, and suspends while it waits, so no thread is blocked.
 * The caller closes the lease. [withLease] does that by itself, and should be preferred.
 *
 * A cancelled coroutine stops waiting. If the lease was acquired at that moment, it is released in
 * the background, so none is left behind.
 *
 * @param wait how long to wait for a slot; zero asks the broker once
 * @throws LockException as [AmqpLock.acquire] does, and [LockException.Invalid] if the wait is
 *   negative or infinite
 */
public suspend fun AmqpLock.acquireSuspending(wait: Duration): Lease {
  if (wait.isInfinite()) {
    throw LockException.Invalid("The time to wait for ${id()} is infinite; use a bound").also {
      it.initLock(id())
    }
  }
  return suspendCancellableCoroutine { continuation ->
    val acquired = acquireAsync(wait.toJavaDuration())
    acquired.whenComplete { lease, failure ->
      if (failure == null) {
        // A coroutine that is cancelled before it resumes never sees the lease.
        continuation.resume(lease) { _, unseen, _ -> closeInBackground(unseen) }
      } else {
        continuation.resumeWithException(
          if (failure is CompletionException) failure.cause ?: failure else failure
        )
      }
    }
    continuation.invokeOnCancellation { acquired.cancel(false) }
  }
}

/**
 * Runs the block while this coroutine holds a lease of the lock, which is released when the block
 * ends in any way. Suspends while it waits for the lease and while it releases it.
 *
 * If the lease is lost, the block is cancelled, as by a cancelled [CoroutineScope], and this
 * function throws [LockException.Lost] as soon as the block has ended. It does so even if the block
 * ignored the cancellation and returned, or if this coroutine was cancelled too. If the block
 * failed, its failure is the cause; a [CancellationException] is not. A block that does not suspend
 * is not interrupted: it should check [Lease.state], or let the resource check a fencing token.
 *
 * The lease belongs to no thread, so the block may change its dispatcher and start coroutines in
 * its scope. They end before the lease is released. The lock is not reentrant: a block that
 * acquires it again asks for a second lease, and of a mutex it gets none. A block that closes the
 * lease by itself ends the exclusion.
 *
 * If the `AmqpLocks` is closed, that ends the exclusion too, and others may begin. The block is not
 * cancelled, but this function throws [LockException.Lost] when the block has ended.
 *
 * @param wait how long to wait for a slot; zero asks the broker once
 * @return what the block returned; the lease was not lost when the block ended, as far as this
 *   process knew
 * @throws LockException.AcquireTimeout if no slot became free in time
 * @throws LockException.Lost if the lease was lost, or the `AmqpLocks` closed, before the block had
 *   ended
 * @throws LockException as [acquireSuspending] does
 */
public suspend fun <T> AmqpLock.withLease(
  wait: Duration,
  block: suspend CoroutineScope.(Lease) -> T,
): T {
  val lease = BlockLease(acquireSuspending(wait))
  try {
    val result =
      try {
        runUnder(lease, block)
      } catch (e: Throwable) {
        throw if (lease.hasEnded()) lost(lease, e) else e
      }
    if (lease.hasEnded()) {
      throw lost(lease, null)
    }
    return result
  } finally {
    // Two contexts: a change of dispatchers by one would replace what is thrown by a cancellation.
    withContext(NonCancellable) { withContext(releases) { lease.close() } }
  }
}

/** The lease as the block has it: the block may close it, and nobody else may before it ends. */
private class BlockLease(private val lease: Lease) : Lease by lease {

  @Volatile private var closedByBlock = false

  /** Whether it was lost, or released by others. */
  fun hasEnded(): Boolean =
    when (lease.state()) {
      LeaseState.LOST -> true
      LeaseState.RELEASED -> !closedByBlock
      else -> false
    }

  override fun close() {
    if (lease.state() != LeaseState.RELEASED) {
      closedByBlock = true
    }
    lease.close()
  }

  // Kotlin does not delegate the default methods of Java.
  override fun permits(): Int = lease.permits()

  override fun fencingTokens(): List<FencingToken> = lease.fencingTokens()

  override fun toString(): String = lease.toString()
}

private suspend fun <T> runUnder(lease: BlockLease, block: suspend CoroutineScope.(Lease) -> T): T =
  coroutineScope {
    val scope = this
    // What cancelling runs may block, and the thread that tells of losses must not.
    lease
      .whenLost()
      .thenAcceptAsync(
        { scope.cancel("The lease of ${lease.lock()} was lost: $it") },
        cancellations.asExecutor(),
      )
    if (lease.hasEnded()) {
      scope.cancel("The lease of ${lease.lock()} was lost before the block began")
    }
    scope.ensureActive()
    block(lease)
  }

private fun lost(lease: Lease, failure: Throwable?): LockException.Lost {
  val reason =
    when {
      lease.lossReason().isPresent -> ": ${lease.lossReason().get()}"
      lease.state() == LeaseState.RELEASED -> ": the locks were closed"
      else -> ""
    }
  return LockException.Lost(
      "The lease of ${lease.lock()} was lost while work was done under it$reason",
      failure.takeIf { it !is CancellationException },
    )
    .also { it.initLock(lease.lock()) }
}

private fun closeInBackground(lease: Lease) {
  releases.asExecutor().execute { lease.close() }
}
