package io.amqplocks.internal.waiting;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.internal.lease.LeaseFactory;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class FenceableKindTest {

  private static final Variant FENCED = Variant.PLAIN.withToken();

  private final LeaseFactory unfenced = (call, session, contest) -> Optional.empty();
  private final LeaseFactory fenced = (call, session, contest) -> Optional.empty();
  private final List<LeaseFactory> made = new ArrayList<>();
  private final FenceableKind kind = new FenceableKind(this::claim, unfenced, fenced);

  private Claim claim(LeaseFactory leases) {
    made.add(leases);
    return (call, session) -> leases.take(call, session, (same, own) -> Optional.empty());
  }

  @Test
  void aClaimIsMadeWhenItIsFirstUsedAndKept() {
    assertThat(made).isEmpty();
    Claim first = kind.claim(Variant.PLAIN);
    assertThat(kind.claim(Variant.PLAIN.withoutOrder())).isSameAs(first);
    assertThat(made).containsExactly(unfenced);
    assertThat(kind.claim(FENCED)).isNotSameAs(first).isSameAs(kind.claim(FENCED));
    assertThat(kind.claim(Variant.PLAIN)).isSameAs(first);
    assertThat(made).containsExactly(unfenced, fenced);
  }
}
