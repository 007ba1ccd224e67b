package io.amqplocks.kotlin

import io.amqplocks.AmqpLocks
import io.amqplocks.lock.Lease
import io.amqplocks.lock.LeaseState
import io.amqplocks.test.Broker
import io.amqplocks.test.BrokerTest
import java.util.UUID
import kotlin.time.Duration.Companion.seconds
import kotlinx.coroutines.runBlocking
import org.assertj.core.api.Assertions.assertThat
import org.junit.jupiter.api.Test

/** What MIGRATION tells users to write; `ReadmeTest` compares the two. */
@BrokerTest
internal class MigrationTest {

  private val billed = mutableListOf<LeaseState>()

  private fun bill(lease: Lease) {
    billed += lease.state()
  }

  @Test
  fun `a mutex with a lease`(broker: Broker) {
    val prefix = "test-" + UUID.randomUUID().toString().substring(0, 8) + "."
    AmqpLocks.builder(broker.connectionFactory()).queuePrefix(prefix).build().use { locks ->
      runBlocking {
        locks.mutex("orders").withLease(10.seconds) { lease -> // was: mutex.withLock {
          bill(lease)
        }
      }
      assertThat(billed).containsExactly(LeaseState.HELD)
      assertThat(locks.leases()).isEmpty()
    }
  }
}
