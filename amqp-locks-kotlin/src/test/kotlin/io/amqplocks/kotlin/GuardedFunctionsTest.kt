package io.amqplocks.kotlin

import io.amqplocks.AmqpLocks
import io.amqplocks.lock.FencingToken
import io.amqplocks.lock.LockException
import io.amqplocks.lock.LockId
import io.amqplocks.spring.LockOperations
import io.amqplocks.spring.MutexGuarded
import io.amqplocks.spring.OnBusy
import io.amqplocks.spring.OnLost
import io.amqplocks.spring.ReadGuarded
import io.amqplocks.spring.ReleaseAfter
import io.amqplocks.spring.WriteGuarded
import io.amqplocks.spring.autoconfigure.AmqpLocksAutoConfiguration
import io.amqplocks.test.Broker
import io.amqplocks.test.BrokerTest
import java.util.UUID
import java.util.concurrent.CompletableFuture
import java.util.concurrent.CountDownLatch
import java.util.concurrent.TimeUnit
import java.util.concurrent.atomic.AtomicInteger
import java.util.function.Supplier
import kotlin.time.Duration.Companion.minutes
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.delay
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.flow
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import org.assertj.core.api.Assertions.assertThat
import org.assertj.core.api.Assertions.assertThatThrownBy
import org.awaitility.Awaitility.await
import org.junit.jupiter.api.AfterEach
import org.junit.jupiter.api.BeforeEach
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.Timeout
import org.springframework.aop.support.AopUtils
import org.springframework.boot.amqp.autoconfigure.RabbitAutoConfiguration
import org.springframework.boot.autoconfigure.AutoConfigurations
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration
import org.springframework.boot.test.context.runner.ApplicationContextRunner
import org.springframework.cache.CacheManager
import org.springframework.cache.annotation.Cacheable
import org.springframework.cache.annotation.EnableCaching
import org.springframework.cache.concurrent.ConcurrentMapCacheManager
import org.springframework.context.annotation.Bean
import org.springframework.scheduling.annotation.Async

/** Functions of Spring beans that suspend, with annotations of the starter. */
@BrokerTest
@Timeout(value = 3, unit = TimeUnit.MINUTES, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
internal class GuardedFunctionsTest {

  private val prefix = "test-" + UUID.randomUUID().toString().substring(0, 8) + "."
  private lateinit var elsewhere: AmqpLocks
  private lateinit var application: ApplicationContextRunner

  @BeforeEach
  fun open(broker: Broker) {
    val settings = broker.connectionFactory()
    elsewhere = AmqpLocks.builder(broker.connectionFactory()).queuePrefix(prefix).build()
    application =
      ApplicationContextRunner()
        .withConfiguration(
          AutoConfigurations.of(
            AopAutoConfiguration::class.java,
            RabbitAutoConfiguration::class.java,
            AmqpLocksAutoConfiguration::class.java,
          )
        )
        .withPropertyValues(
          "spring.rabbitmq.host=" + broker.host(),
          "spring.rabbitmq.port=" + broker.port(),
          "spring.rabbitmq.username=" + settings.username,
          "spring.rabbitmq.password=" + settings.password,
          "spring.rabbitmq.virtual-host=" + settings.virtualHost,
          "amqp-locks.queue-prefix=$prefix",
          "amqp-locks.default-wait=30s",
        )
  }

  @AfterEach
  fun close() {
    elsewhere.close()
  }

  /** Coroutines copy exceptions that they can make anew; this one they cannot. */
  private class WorkFailure(val number: Int) : RuntimeException("of the work")

  open class Till {
    @MutexGuarded(name = "till")
    open suspend fun <T> pay(work: suspend () -> T): T = work()

    @MutexGuarded(name = "till")
    open suspend fun payNothing(work: suspend () -> Unit) {
      work()
    }

    @MutexGuarded(name = "till", key = "#id + '/' + #root.args.length + '/' + #p0")
    open suspend fun <T> payKeyed(id: Long, work: suspend (Long) -> T): T = work(id)

    @MutexGuarded(name = "till", onBusy = OnBusy.THROW)
    open suspend fun payNow(): String = "now"

    @MutexGuarded(name = "till", onBusy = OnBusy.SKIP)
    open suspend fun payMaybe(): String? = "maybe"

    @MutexGuarded(name = "till", onLost = OnLost.FAIL)
    open suspend fun <T> payAlone(work: suspend () -> T): T = work()

    @MutexGuarded(name = "till", fenced = true)
    open suspend fun payFenced(token: FencingToken? = null): Long = checkNotNull(token).number()

    @MutexGuarded(name = "till")
    @Cacheable("prices", key = "#p0")
    open suspend fun price(item: String, work: suspend () -> Unit): String {
      work()
      return "price of $item"
    }

    @ReadGuarded(name = "prices") open suspend fun <T> read(work: suspend () -> T): T = work()

    @WriteGuarded(name = "prices") open suspend fun <T> write(work: suspend () -> T): T = work()

    @MutexGuarded(name = "till")
    open suspend fun payInSilence(): Any = CompletableFuture<String>()
  }

  interface Desk {
    suspend fun serve(id: Long, busy: () -> Boolean): Boolean
  }

  class OpenDesk : Desk {
    @MutexGuarded(name = "desk", key = "#id")
    override suspend fun serve(id: Long, busy: () -> Boolean): Boolean {
      delay(10)
      return busy()
    }
  }

  /** Calls the function of a nested bean, which wants the same lock. */
  open class Office(private val till: Till) {
    @MutexGuarded(name = "till") open suspend fun manage(): String = till.pay { "nested" }
  }

  private fun <T> bounded(test: suspend CoroutineScope.() -> T): T = runBlocking {
    withTimeout(2.minutes) { test() }
  }

  private fun withTill(test: (Till, AmqpLocks) -> Unit) {
    application.withBean(Till::class.java).run { context ->
      assertThat(context).hasNotFailed()
      val locks = context.getBean(AmqpLocks::class.java)
      test(context.getBean(Till::class.java), locks)
      await().atMost(30, TimeUnit.SECONDS).untilAsserted {
        assertThat(locks.leases()).isEmpty()
        assertThat(locks.waiting()).isEmpty()
        assertThat(isBusy()).isFalse()
      }
    }
  }

  private fun isBusy(name: String = "till"): Boolean =
    elsewhere.mutex(name).tryAcquire().map { it.close() }.isEmpty

  /** A release does not wait for the broker. */
  private fun awaitFree() {
    await().atMost(30, TimeUnit.SECONDS).until { !isBusy() }
  }

  private fun <T> hold(name: String = "till", work: () -> T): T =
    elsewhere.mutex(name).acquire(java.time.Duration.ofSeconds(30)).use { work() }

  @Test
  fun `the lock is held while the function is suspended, and free when it has returned`() =
    withTill { till, locks ->
      assertThat(AopUtils.isCglibProxy(till)).isTrue()
      val busy = bounded {
        val seen = till.pay {
          delay(50)
          isBusy()
        }
        assertThat(locks.leases()).isEmpty()
        seen
      }
      assertThat(busy).isTrue()
      awaitFree()
    }

  @Test
  fun `nothing and null are results too`() = withTill { till, _ ->
    var done = false
    bounded {
      till.payNothing {
        delay(1)
        done = isBusy()
      }
      assertThat(till.pay<String?> { null }).isNull()
    }
    assertThat(done).isTrue()
  }

  /** On one thread: were it blocked by those that wait, the holder could not go on. */
  @Test
  fun `calls exclude each other, and their one thread is not blocked`() = withTill { till, _ ->
    var inside = 0
    var most = 0
    val threads = mutableSetOf<Thread>()
    bounded {
      (1..10)
        .map {
          async {
            till.pay {
              threads += Thread.currentThread()
              most = maxOf(most, ++inside)
              delay(5)
              inside--
            }
          }
        }
        .awaitAll()
      assertThat(threads).containsExactly(Thread.currentThread())
    }
    assertThat(most).isEqualTo(1)
    assertThat(inside).isZero()
  }

  @Test
  fun `functions read at once and write alone`() = withTill { till, locks ->
    val prices = elsewhere.readWriteLock("prices")
    bounded {
      val met = CompletableDeferred<Int>()
      val first = async { till.read { met.await() } }
      till.read {
        assertThat(prices.writeLock().tryAcquire()).isEmpty()
        // The other one began to acquire later.
        while (locks.leases().size < 2) {
          delay(10)
        }
        met.complete(locks.leases().size)
        first.await()
      }
      assertThat(met.await()).isEqualTo(2)
      till.write {
        delay(10)
        assertThat(prices.readLock().tryAcquire()).isEmpty()
        assertThat(till.read { locks.leases().map { it.lock() } })
          .`as`("joined")
          .containsExactly(LockId.writeLock("prices"))
      }
    }
    assertThatThrownBy { bounded { till.read { till.write { "never" } } } }
      .isInstanceOf(LockException.Invalid::class.java)
      .hasMessageContaining("wants the write lock 'prices'")
  }

  @Test
  fun `what the function throws passes unchanged, and the lock is released`() =
    withTill { till, _ ->
      for (pause in listOf(0L, 10L)) {
        val failure = WorkFailure(1)
        assertThatThrownBy {
            bounded {
              till.pay {
                delay(pause)
                throw failure
              }
            }
          }
          .isSameAs(failure)
        awaitFree()
      }
    }

  @Test
  fun `a cancelled caller cancels the function and releases`() = withTill { till, locks ->
    val ended = CompletableDeferred<Boolean>()
    bounded {
      val begun = CompletableDeferred<Unit>()
      val caller = launch {
        till.pay {
          try {
            begun.complete(Unit)
            awaitCancellation()
          } finally {
            ended.complete(true)
          }
        }
      }
      begun.await()
      assertThat(locks.leases()).hasSize(1)
      caller.cancelAndJoin()
      assertThat(ended.await()).isTrue()
    }
  }

  /** Spring begins the function without its caller's Job, so nobody waits for it. */
  @Test
  fun `a function may go on without the lock after its caller was cancelled`() =
    withTill { till, _ ->
      val finish = CountDownLatch(1)
      bounded {
        val begun = CompletableDeferred<Unit>()
        val finished = CompletableDeferred<Boolean>()
        val caller =
          launch(Dispatchers.Default) {
            till.pay {
              try {
                begun.complete(Unit)
                awaitCancellation()
              } finally {
                finished.complete(finish.await(30, TimeUnit.SECONDS))
              }
            }
          }
        begun.await()
        caller.cancelAndJoin()
        await().atMost(20, TimeUnit.SECONDS).until { !isBusy() }
        assertThat(finished.isCompleted).isFalse()
        finish.countDown()
        assertThat(finished.await()).isTrue()
      }
    }

  @Test
  fun `a cancelled waiter leaves nothing behind`() = withTill { till, locks ->
    hold {
      bounded {
        val waiter = launch(Dispatchers.Default) { till.pay { awaitCancellation() } }
        await().atMost(30, TimeUnit.SECONDS).until { locks.waiting().isNotEmpty() }
        waiter.cancelAndJoin()
      }
      await().atMost(30, TimeUnit.SECONDS).until { locks.waiting().isEmpty() }
    }
  }

  /** Kotlin's compiler writes no names for Java here: kotlin-reflect has them. */
  @Test
  fun `a key names the parameters, and the continuation is none of them`() {
    application.withBean(Till::class.java).run { context ->
      val locks = context.getBean(AmqpLocks::class.java)
      val till = context.getBean(Till::class.java)
      val held = bounded { till.payKeyed(7) { locks.leases().map { it.lock() } } }
      val keyed = context.getBean(LockOperations::class.java).mutex("till", "7/2/7")
      assertThat(held).containsExactly(keyed.id())
      assertThat(locks.leases()).isEmpty()
    }
  }

  @Test
  fun `a busy lock throws or skips, as for a Mono`() = withTill { till, _ ->
    hold {
      assertThatThrownBy { bounded { till.payNow() } }
        .isInstanceOf(LockException.AcquireTimeout::class.java)
        .hasMessageContaining("till")
      assertThat(bounded { till.payMaybe() }).isNull()
    }
    // It does not wait until the broker has read the release.
    await().atMost(30, TimeUnit.SECONDS).until { bounded { till.payMaybe() } == "maybe" }
  }

  @Test
  fun `a fenced function has its token`() = withTill { till, _ ->
    val first = bounded { till.payFenced() }
    assertThat(bounded { till.payFenced() }).isGreaterThan(first)
  }

  @Test
  fun `a loss is thrown instead of the result`() = withTill { till, locks ->
    assertThatThrownBy {
        bounded {
          till.payAlone {
            locks.revoke(locks.mutex("till").id(), "for the test")
            delay(1)
            "result"
          }
        }
      }
      .isInstanceOf(LockException.Lost::class.java)
      .hasMessageContaining("for the test")
  }

  /** Spring's cache then gives the plain result in place of a publisher. */
  @Test
  fun `a result from the cache is returned too`() {
    application.withBean(Till::class.java).withUserConfiguration(Caching::class.java).run { context ->
      val till = context.getBean(Till::class.java)
      val runs = AtomicInteger()
      repeat(2) {
        assertThat(bounded { till.price("tea") { runs.incrementAndGet() } }).isEqualTo("price of tea")
        awaitFree()
      }
      assertThat(runs).hasValue(1)
    }
  }

  @EnableCaching
  open class Caching {
    @Bean open fun cacheManager(): CacheManager = ConcurrentMapCacheManager()
  }

  @Test
  fun `a nested call joins the lease`() {
    application.withBean(Till::class.java).withBean(Office::class.java).run { context ->
      assertThat(bounded { context.getBean(Office::class.java).manage() }).isEqualTo("nested")
      awaitFree()
    }
  }

  @Test
  fun `the proxy of an interface guards too`() {
    application
      .withPropertyValues("spring.aop.proxy-target-class=false")
      .withBean(OpenDesk::class.java)
      .run { context ->
        val desk = context.getBean(Desk::class.java)
        assertThat(AopUtils.isJdkDynamicProxy(desk)).isTrue()
        val locks = context.getBean(AmqpLocks::class.java)
        assertThat(bounded { desk.serve(5) { locks.leases().size == 1 } }).isTrue()
        assertThat(locks.leases()).isEmpty()
      }
  }

  @Test
  fun `an unfinished result that was not declared is refused when it comes`() =
    withTill { till, _ ->
      assertThatThrownBy { bounded { till.payInSilence() } }
        .isInstanceOf(IllegalStateException::class.java)
        .hasMessageContaining("payInSilence() cannot be guarded by a lock")
    }

  open class SkipsText {
    @MutexGuarded(name = "x", onBusy = OnBusy.SKIP) open suspend fun work(): String = ""
  }

  open class FallsBack {
    @MutexGuarded(name = "x", onBusy = OnBusy.FALLBACK, fallbackMethod = "other")
    open suspend fun work(): String = ""

    open suspend fun other(): String = ""
  }

  open class Interrupts {
    @MutexGuarded(name = "x", onLost = OnLost.INTERRUPT) open suspend fun work(): String = ""
  }

  open class InTransaction {
    @MutexGuarded(name = "x", releaseAfter = ReleaseAfter.TRANSACTION)
    open suspend fun work(): String = ""
  }

  open class BringsFuture {
    @MutexGuarded(name = "x") open suspend fun work(): CompletableFuture<String>? = null
  }

  open class BringsFlow {
    @MutexGuarded(name = "x") open suspend fun work(): Flow<String> = flow { emit("x") }
  }

  open class Loads<T>(private val what: T) {
    @MutexGuarded(name = "x") open suspend fun work(): T = what
  }

  open class LoadsFlow : Loads<Flow<String>>(flow { emit("x") })

  open class OnAnotherThread {
    @MutexGuarded(name = "x") @Async open suspend fun work(): String = ""
  }

  open class NamesContinuation {
    @MutexGuarded(name = "x", key = "#p1") open suspend fun work(id: Long): Long = id
  }

  @Test
  fun `what cannot be kept is refused at startup`() {
    refused(SkipsText(), "the result of a suspending function is not nullable")
    refused(FallsBack(), "onBusy = FALLBACK is not for a suspending function")
    refused(Interrupts(), "no thread to interrupt where a function suspends")
    refused(InTransaction(), "no transaction to wait for where a function suspends")
    refused(BringsFuture(), "brings a CompletableFuture")
    refused(BringsFlow(), "brings a Flow")
    refused(LoadsFlow(), "brings a Flow")
    refused(OnAnotherThread(), "marked @Async")
    refused(NamesContinuation(), "names #p1, and there is only #id, #p0, #a0")
  }

  private fun <T : Any> refused(work: T, reason: String) {
    application.withBean(work.javaClass, Supplier { work }).run { context ->
      assertThat(context).hasFailed()
      assertThat(context.startupFailure).hasStackTraceContaining(reason)
    }
  }
}
