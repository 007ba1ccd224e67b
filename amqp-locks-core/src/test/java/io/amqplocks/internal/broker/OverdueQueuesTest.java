package io.amqplocks.internal.broker;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("trap-6")
class OverdueQueuesTest {

  private final OverdueQueues overdue = new OverdueQueues();

  @Test
  void countsTheRepliesThatAQueueOwes() {
    CompletableFuture<Answer> first = new CompletableFuture<>();
    CompletableFuture<Answer> second = new CompletableFuture<>();
    overdue.add("q", first);
    assertThat(overdue.owes("q", 1)).isTrue();
    assertThat(overdue.owes("q", 2)).isFalse();
    assertThat(overdue.owes("other", 1)).isFalse();
    overdue.add("q", second);
    assertThat(overdue.owes("q", 2)).isTrue();
    first.complete(Answer.OK);
    assertThat(overdue.owes("q", 2)).isFalse();
    assertThat(overdue.owes("q", 1)).isTrue();
    // As with a connection that breaks.
    second.completeExceptionally(new IllegalStateException());
    assertThat(overdue.owes("q", 1)).isFalse();
  }

  /** The reply may come between the end of the wait and the note that nobody waits. */
  @Test
  void aReplyThatHasComeIsNotOwed() {
    overdue.add("q", CompletableFuture.completedFuture(Answer.OK));
    assertThat(overdue.owes("q", 1)).isFalse();
  }
}
