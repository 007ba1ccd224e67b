package io.amqplocks.kotlin

import io.amqplocks.AmqpLocks
import io.amqplocks.lock.AmqpLock
import io.amqplocks.lock.FencingToken
import io.amqplocks.lock.Lease
import io.amqplocks.lock.LeaseState
import io.amqplocks.lock.LockException
import io.amqplocks.lock.LossReason
import io.amqplocks.test.Broker
import io.amqplocks.test.BrokerTest
import java.util.Optional
import java.util.UUID
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CountDownLatch
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicBoolean
import kotlin.coroutines.CoroutineContext
import kotlin.time.Duration
import kotlin.time.Duration.Companion.minutes
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancel
import kotlinx.coroutines.delay
import kotlinx.coroutines.isActive
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeout
import kotlinx.coroutines.yield
import org.assertj.core.api.Assertions.assertThat
import org.assertj.core.api.Assertions.assertThatThrownBy
import org.awaitility.Awaitility.await
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.BeforeEach
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout
import org.junit.jupiter.api.parallel.Isolated

@BrokerTest
@Isolated("a test of it keeps every processor busy")
@Timeout(value = 3, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
internal class LeasesTest {

  private val patience = 30.seconds
  private val name = "kotlin-" + UUID.randomUUID()
  private lateinit var locks: AmqpLocks
  private lateinit var elsewhere: AmqpLocks
  private lateinit var lock: AmqpLock

  @BeforeEach
  fun open(broker: Broker) {
    locks = AmqpLocks.builder(broker.connectionFactory()).build()
    elsewhere = AmqpLocks.builder(broker.connectionFactory()).build()
    lock = locks.mutex(name)
  }

  /** Coroutines copy exceptions that they can make anew; this one they cannot. */
  private class WorkFailure(val number: Int) : RuntimeException("of the work")

  /** What it throws, whether or not its own job was cancelled. */
  private suspend fun failureOf(call: suspend () -> Unit): Throwable? =
    try {
      call()
      null
    } catch (e: Throwable) {
      e
    }

  /** A lock whose lease is what the function makes of a real one. */
  private fun leasing(wrap: (Lease) -> Lease): AmqpLock =
    object : AmqpLock by lock {
      override fun acquireAsync(wait: java.time.Duration) =
        lock.acquireAsync(wait).thenApply(wrap)
    }

  @AfterEach
  fun close() {
    locks.close()
    elsewhere.close()
  }

  private fun <T> bounded(test: suspend CoroutineScope.() -> T): T = runBlocking {
    withTimeout(2.minutes) { test() }
  }

  private fun isBusyElsewhere(): Boolean =
    elsewhere.mutex(name).tryAcquire().map { it.close() }.isEmpty

  private fun awaitNothingLeft() {
    await().atMost(30, TimeUnit.SECONDS).untilAsserted {
      assertThat(locks.leases()).isEmpty()
      assertThat(locks.waiting()).isEmpty()
      assertThat(isBusyElsewhere()).isFalse()
    }
  }

  @Test
  fun `the block holds, and its result is returned after the release`() {
    val result = bounded {
      lock.withLease(patience) { lease ->
        assertThat(lease.state()).isEqualTo(LeaseState.HELD)
        assertThat(isBusyElsewhere()).isTrue()
        "done"
      }
    }
    assertThat(result).isEqualTo("done")
    assertThat(locks.leases()).isEmpty()
    awaitNothingLeft()
  }

  @Test
  fun `what the block throws passes unchanged, and the lease is released`() {
    val failure = WorkFailure(1)
    assertThatThrownBy { bounded { lock.withLease(patience) { throw failure } } }
      .isSameAs(failure)
    awaitNothingLeft()
  }

  @Test
  fun `a busy lock times out`() {
    elsewhere.mutex(name).acquire(java.time.Duration.ofSeconds(30)).use {
      assertThatThrownBy { bounded { lock.withLease(Duration.ZERO) {} } }
        .isInstanceOf(LockException.AcquireTimeout::class.java)
        .hasMessageContaining(name)
    }
    awaitNothingLeft()
  }

  @Test
  fun `an infinite or negative wait is refused`() {
    for (wait in listOf(Duration.INFINITE, (-1).seconds)) {
      assertThatThrownBy { bounded { lock.withLease(wait) {} } }
        .isInstanceOf(LockException.Invalid::class.java)
        .hasMessageContaining(name)
    }
  }

  /** On one thread: were it blocked by those that wait, the holder could not go on. */
  @Test
  fun `coroutines of one thread wait without blocking it`() {
    var inside = 0
    var most = 0
    val done = bounded {
      (1..50)
        .map {
          async {
            lock.withLease(1.minutes) {
              most = maxOf(most, ++inside)
              yield()
              delay(1)
              inside--
              1
            }
          }
        }
        .awaitAll()
        .sum()
    }
    assertThat(done).isEqualTo(50)
    assertThat(most).isEqualTo(1)
    awaitNothingLeft()
  }

  @Test
  fun `a cancelled waiter leaves nothing behind`() {
    val holder = elsewhere.mutex(name).acquire(java.time.Duration.ofSeconds(30))
    bounded {
      val waiter = launch(Dispatchers.Default) { lock.withLease(1.minutes) { awaitCancellation() } }
      await().atMost(30, TimeUnit.SECONDS).until { locks.waiting().isNotEmpty() }
      waiter.cancel()
      waiter.join()
    }
    await().atMost(30, TimeUnit.SECONDS).until { locks.waiting().isEmpty() }
    holder.close()
    awaitNothingLeft()
  }

  /** The dispatcher keeps the coroutine from resuming, so the order is certain. */
  @Test
  fun `a lease that comes to a cancelled coroutine is released`() {
    val tasks = LinkedBlockingQueue<Runnable>()
    val byHand =
      object : CoroutineDispatcher() {
        override fun dispatch(context: CoroutineContext, block: Runnable) {
          tasks.put(block)
        }
      }
    fun next(): Runnable = checkNotNull(tasks.poll(60, TimeUnit.SECONDS)) { "nothing dispatched" }
    val seen = LinkedBlockingQueue<Lease>()
    val holder = elsewhere.mutex(name).acquire(java.time.Duration.ofSeconds(30))
    val job = CoroutineScope(byHand).launch { seen.put(lock.acquireSuspending(patience)) }
    next().run()
    holder.close()
    val resumption = next()
    assertThat(locks.leases()).hasSize(1)
    job.cancel()
    resumption.run()
    assertThat(seen).isEmpty()
    awaitNothingLeft()
  }

  @Test
  fun `a loss cancels the block`() {
    assertThatThrownBy {
        bounded {
          lock.withLease(patience) {
            locks.revoke(lock.id(), "for the test")
            delay(60.seconds)
            throw WorkFailure(3) // This would be the cause.
          }
        }
      }
      .isInstanceOf(LockException.Lost::class.java)
      .hasMessageContaining(name)
      .hasMessageContaining("for the test")
      .hasNoCause()
      .extracting { (it as LockException).lock().orElse(null) }
      .isEqualTo(lock.id())
    awaitNothingLeft()
  }

  /** Only their cancellation ends them, and until then they leave no thread to anybody else. */
  @Test
  fun `losses cancel blocks that keep every thread of the default dispatcher busy`() {
    val mutexes = (1..maxOf(2, Runtime.getRuntime().availableProcessors())).map {
      locks.mutex("$name-$it")
    }
    val begun = CountDownLatch(mutexes.size)
    val seen = LinkedBlockingQueue<Optional<Throwable>>()
    val over = AtomicBoolean()
    for (mutex in mutexes) {
      CoroutineScope(Dispatchers.Default).launch {
        val failure = failureOf {
          mutex.withLease(patience) {
            begun.countDown()
            while (isActive && !over.get()) {
              Thread.onSpinWait()
            }
          }
        }
        seen.put(Optional.ofNullable(failure))
      }
    }
    try {
      check(begun.await(60, TimeUnit.SECONDS))
      mutexes.forEach { locks.revoke(it.id(), "for the test") }
      await().atMost(30, TimeUnit.SECONDS).until { seen.size == mutexes.size }
    } finally {
      over.set(true)
    }
    assertThat(seen).allMatch { it.orElse(null) is LockException.Lost }
    awaitNothingLeft()
  }

  @Test
  fun `a loss that the block ignores is thrown all the same`() {
    assertThatThrownBy {
        bounded {
          lock.withLease(patience) { lease ->
            withContext(NonCancellable) {
              locks.revoke(lock.id(), "for the test")
              await().atMost(30, TimeUnit.SECONDS).until { lease.state() == LeaseState.LOST }
            }
          }
        }
      }
      .isInstanceOf(LockException.Lost::class.java)
    awaitNothingLeft()
  }

  @Test
  fun `what the block throws after a loss is the cause`() {
    assertThatThrownBy {
        bounded {
          lock.withLease(patience) {
            try {
              locks.revoke(lock.id(), "for the test")
              awaitCancellation()
            } finally {
              throw IllegalStateException("of the work")
            }
          }
        }
      }
      .isInstanceOf(LockException.Lost::class.java)
      .hasRootCauseInstanceOf(IllegalStateException::class.java)
      .hasRootCauseMessage("of the work")
    awaitNothingLeft()
  }

  @Test
  fun `a cancelled holder releases, and this is no loss`() {
    val ended = CompletableDeferred<Throwable?>()
    bounded {
      val holding = CompletableDeferred<Unit>()
      val holder = launch {
        try {
          lock.withLease(patience) {
            holding.complete(Unit)
            awaitCancellation()
          }
        } catch (e: Throwable) {
          ended.complete(e)
          throw e
        }
      }
      holding.await()
      holder.cancel()
      holder.join()
      assertThat(ended.await()).isInstanceOf(CancellationException::class.java)
    }
    assertThat(locks.leases()).isEmpty()
    awaitNothingLeft()
  }

  /** This lease tells nobody of its loss, so only the look after the block can see it. */
  @Test
  fun `a loss that nobody was told of yet is thrown after the block`() {
    var ended = false
    val silent = leasing { lease ->
      object : Lease by lease {
        override fun state() = if (ended) LeaseState.LOST else LeaseState.HELD

        override fun whenLost() = CompletableFuture<LossReason>()
      }
    }
    assertThatThrownBy { bounded { silent.withLease(patience) { ended = true } } }
      .isInstanceOf(LockException.Lost::class.java)
    awaitNothingLeft()
  }

  @Test
  fun `a block does not begin under a lost lease`() {
    var begun = false
    val lost = leasing { lease ->
      object : Lease by lease {
        override fun state() = LeaseState.LOST

        override fun whenLost() = CompletableFuture<LossReason>()
      }
    }
    assertThatThrownBy { bounded { lost.withLease(patience) { begun = true } } }
      .isInstanceOf(LockException.Lost::class.java)
    assertThat(begun).isFalse()
    awaitNothingLeft()
  }

  @Test
  fun `a close of the locks under the block is a loss`() {
    var ended = false
    assertThatThrownBy {
        bounded {
          lock.withLease(patience) { lease ->
            locks.close()
            // Too late to be the block's own.
            lease.close()
            delay(1)
            ended = true
          }
        }
      }
      .isInstanceOf(LockException.Lost::class.java)
      .hasMessageContaining(name)
      .hasMessageContaining("the locks were closed")
    assertThat(ended).isTrue()
  }

  @Test
  fun `a block may close its lease`() {
    val result = bounded {
      lock.withLease(patience) { lease ->
        lease.close()
        locks.close()
        "done"
      }
    }
    assertThat(result).isEqualTo("done")
  }

  @Test
  fun `the block has all of its lease`() {
    val tokens = listOf(FencingToken(1, 1, 1), FencingToken(2, 1, 1))
    val two = leasing { lease ->
      object : Lease by lease {
        override fun permits() = 2

        override fun fencingTokens() = tokens

        override fun toString() = "two slots"
      }
    }
    bounded {
      two.withLease(patience) { lease ->
        assertThat(lease.permits()).isEqualTo(2)
        assertThat(lease.fencingTokens()).isEqualTo(tokens)
        assertThat(lease).hasToString("two slots")
        assertThat(lease.lock()).isEqualTo(lock.id())
      }
    }
    awaitNothingLeft()
  }

  @Test
  fun `the coroutines of the block end before the release`() {
    var wasBusy = false
    bounded {
      lock.withLease(patience) {
        launch(Dispatchers.Default) {
          delay(200)
          wasBusy = isBusyElsewhere()
        }
      }
    }
    assertThat(wasBusy).isTrue()
    awaitNothingLeft()
  }

  /** Not on Dispatchers.IO, where the release changes no dispatcher. */
  @Test
  fun `a cancellation during the release hides no failure`() {
    val closing = CountDownLatch(1)
    val goOn = CountDownLatch(1)
    val slow = leasing { lease ->
      object : Lease by lease {
        override fun close() {
          closing.countDown()
          check(goOn.await(60, TimeUnit.SECONDS))
          lease.close()
        }
      }
    }
    val failure = WorkFailure(2)
    var seen: Throwable? = null
    bounded {
      val job = launch { seen = failureOf { slow.withLease(patience) { throw failure } } }
      withContext(Dispatchers.Default) { check(closing.await(60, TimeUnit.SECONDS)) }
      job.cancel()
      goOn.countDown()
      job.join()
    }
    assertThat(seen).isSameAs(failure)
    awaitNothingLeft()
  }

  @Test
  fun `a cancelled coroutine is told of a loss all the same`() {
    var seen: Throwable? = null
    bounded {
      launch {
          seen = failureOf {
            lock.withLease(patience) { lease ->
              this@launch.cancel()
              locks.revoke(lease.lock(), "for the test")
            }
          }
        }
        .join()
    }
    assertThat(seen).isInstanceOf(LockException.Lost::class.java).hasMessageContaining(name)
    awaitNothingLeft()
  }

  @Test
  fun `of two nested leases each loss is told`() {
    val inner = locks.mutex("$name-inner")
    assertThatThrownBy {
        bounded {
          lock.withLease(patience) {
            inner.withLease(patience) {
              locks.revoke(lock.id(), "the outer one")
              locks.revoke(inner.id(), "the inner one")
              awaitCancellation()
            }
          }
        }
      }
      .isInstanceOf(LockException.Lost::class.java)
      .hasMessageContaining("the outer one")
      .cause()
      .isInstanceOf(LockException.Lost::class.java)
      .hasMessageContaining("the inner one")
    awaitNothingLeft()
  }
}
