package io.amqplocks.kotlin

import io.amqplocks.AmqpLocks
import io.amqplocks.lock.AmqpLock
import io.amqplocks.lock.Lease
import io.amqplocks.lock.LeaseState
import io.amqplocks.lock.LockException
import io.amqplocks.test.Broker
import io.amqplocks.test.BrokerTest
import java.util.UUID
import java.util.concurrent.LinkedBlockingQueue
import java.util.concurrent.TimeUnit
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
import kotlinx.coroutines.delay
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

@BrokerTest
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

  @AfterEach
  fun close() {
    locks.close()
    elsewhere.close()
  }

  /** Bounded, so that a defect is a failure and no test that hangs. */
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
    val failure = IllegalStateException("of the work")
    assertThatThrownBy { bounded { lock.withLease(patience) { throw failure } } }
      .isInstanceOf(IllegalStateException::class.java)
      .hasMessage("of the work")
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
    val job = CoroutineScope(byHand).launch { seen.put(lock.acquireSuspending(patience)) }
    next().run()
    val resumption = next()
    assertThat(locks.leases()).hasSize(1)
    job.cancel()
    resumption.run()
    assertThat(seen).isEmpty()
    awaitNothingLeft()
    assertThat(job.isCancelled).isTrue()
  }

  @Test
  fun `a loss cancels the block`() {
    assertThatThrownBy {
        bounded {
          lock.withLease(patience) {
            locks.revoke(lock.id(), "for the test")
            awaitCancellation()
          }
        }
      }
      .isInstanceOf(LockException.Lost::class.java)
      .hasMessageContaining(name)
      .hasMessageContaining("for the test")
      .hasNoCause()
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
}
