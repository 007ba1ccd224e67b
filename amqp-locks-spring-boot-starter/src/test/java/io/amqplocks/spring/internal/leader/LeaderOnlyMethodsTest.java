package io.amqplocks.spring.internal.leader;

import static org.assertj.core.api.Assertions.assertThat;

import io.amqplocks.spring.LeaderOnly;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.springframework.aop.framework.ProxyFactory;

class LeaderOnlyMethodsTest {

  static class Request {}

  static class Job {
    @LeaderOnly("job")
    public void run() {}
  }

  /** As each request makes new ones of its scope. */
  @Test
  void eachClassIsSearchedOnce() {
    List<Class<?>> searched = new ArrayList<>();
    LeaderOnlyMethods methods =
        new LeaderOnlyMethods(
            text -> text,
            type -> {
              searched.add(type);
              return LeaderOnlyMethods.annotated(type);
            });
    for (int i = 0; i < 3; i++) {
      Request request = new Request();
      assertThat(methods.postProcessAfterInitialization(request, "request")).isSameAs(request);
      Object job = new ProxyFactory(new Job()).getProxy();
      assertThat(methods.postProcessAfterInitialization(job, "job")).isSameAs(job);
    }
    assertThat(searched).containsExactly(Request.class, Job.class);
    assertThat(methods.names()).containsExactly("job");
  }
}
