package io.amqplocks.spring.internal.guard.method;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.LockException;
import io.amqplocks.spring.LockTemplate;
import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.ReadGuarded;
import io.amqplocks.spring.SemaphoreGuarded;
import io.amqplocks.spring.WriteGuarded;
import io.amqplocks.spring.internal.catalog.LockCatalog;
import io.amqplocks.spring.internal.setup.SemaphoreSetup;
import io.amqplocks.spring.internal.template.CatalogResolver;
import java.lang.reflect.Method;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.aopalliance.intercept.MethodInvocation;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Test;
import org.springframework.aop.framework.ProxyFactory;

/** Which locks a call wants, and in which order; nothing is acquired. */
class AcquireOrderTest {

  private final LockCatalog catalog = new LockCatalog(Duration.ZERO);
  private final GuardedMethods methods =
      new GuardedMethods(catalog, text -> text, (context, name) -> "bean " + name);
  @AutoClose private final AmqpLocks locks = AmqpLocks.builder(new ConnectionFactory()).build();
  private final LockTemplate template =
      new LockTemplate(new CatalogResolver(locks, catalog, new SemaphoreSetup(locks, catalog)));

  record Order(@Nullable Long id) {}

  public static class Work {
    @SemaphoreGuarded(name = "a")
    @MutexGuarded(name = "c")
    @MutexGuarded(name = "b")
    public void oneWay() {}

    @MutexGuarded(name = "b")
    @SemaphoreGuarded(name = "a")
    @MutexGuarded(name = "c")
    public void theOther() {}

    @ReadGuarded(name = "document", key = "#from")
    @WriteGuarded(name = "document", key = "#to")
    @SemaphoreGuarded(name = "copies")
    @MutexGuarded(name = "e")
    public void copy(String from, String to) {}

    @MutexGuarded(name = "account", key = "#from")
    @MutexGuarded(name = "account", key = "#to")
    public void transfer(Object from, Object to) {}

    @MutexGuarded(name = "order", key = "#order?.id")
    public void change(@Nullable Order order) {}

    @MutexGuarded(name = "order", key = "#order.id")
    public void changeStrictly(@Nullable Order order) {}

    @MutexGuarded(name = "any", key = "#p0 + '/' + #a1 + '/' + #root.method.name + '/' + @tenants")
    @MutexGuarded(name = "root", key = "#root.args[0] + #root.targetClass.simpleName")
    public void everything(String one, int two) {}
  }

  private List<String> request(String name, @Nullable Object... arguments) {
    Method method =
        java.util.Arrays.stream(Work.class.getDeclaredMethods())
            .filter(each -> each.getName().equals(name))
            .findAny()
            .orElseThrow();
    Work[] proxy = new Work[1];
    List<?>[] result = new List<?>[1];
    ProxyFactory factory = new ProxyFactory(new Work());
    factory.addAdvice(
        (org.aopalliance.intercept.MethodInterceptor)
            (MethodInvocation call) -> {
              result[0] =
                  methods.of(call.getMethod(), Work.class).requests(call, template).stream()
                      .map(LockRequest::name)
                      .toList();
              return null;
            });
    proxy[0] = (Work) factory.getProxy();
    org.springframework.util.ReflectionUtils.invokeMethod(method, proxy[0], arguments);
    return result[0].stream().map(String.class::cast).toList();
  }

  @Test
  void allCallsAcquireInOneOrder() {
    assertThat(request("oneWay"))
        .isEqualTo(request("theOther"))
        .containsExactly("mutex 'b'", "mutex 'c'", "semaphore 'a'");
    assertThat(request("transfer", "x", "y"))
        .isEqualTo(request("transfer", "y", "x"))
        .containsExactly("mutex 'account' of the key 'x'", "mutex 'account' of the key 'y'");
  }

  @Test
  void equalKeysAreOneLock() {
    assertThat(request("transfer", "x", "x")).containsExactly("mutex 'account' of the key 'x'");
  }

  @Test
  void theSidesOfAReadWriteLockAreInOrderByTheirKeys() {
    assertThat(request("copy", "x", "y"))
        .containsExactly(
            "mutex 'e'",
            "read lock 'document' of the key 'x'",
            "write lock 'document' of the key 'y'",
            "semaphore 'copies'");
    assertThat(request("copy", "y", "x"))
        .containsExactly(
            "mutex 'e'",
            "write lock 'document' of the key 'x'",
            "read lock 'document' of the key 'y'",
            "semaphore 'copies'");
    assertThat(request("copy", "x", "x"))
        .containsExactly("mutex 'e'", "write lock 'document' of the key 'x'", "semaphore 'copies'");
  }

  @Test
  void parametersBeansAndTheCallItself() {
    assertThat(request("everything", "1", 2))
        .containsExactly(
            "mutex 'any' of the key '1/2/everything/bean tenants'",
            "mutex 'root' of the key '1Work'");
    assertThat(request("change", new Order(7L))).containsExactly("mutex 'order' of the key '7'");
    assertThat(request("transfer", Optional.of("in it"), new UUID(0, 1)))
        .containsExactly(
            "mutex 'account' of the key '00000000-0000-0000-0000-000000000001'",
            "mutex 'account' of the key 'in it'");
  }

  private void noKey(String message, String method, @Nullable Object... arguments) {
    assertThatExceptionOfType(LockException.Invalid.class)
        .isThrownBy(() -> request(method, arguments))
        .withMessageContaining(Work.class.getName() + "." + method + "()")
        .withMessageContaining(message);
  }

  @Test
  void withoutAKeyThereIsNoLock() {
    noKey("The key '#order?.id' of a lock of", "change", (Object) null);
    noKey("is null", "change", new Order(null));
    noKey("cannot be computed", "changeStrictly", (Object) null);
    noKey("is blank", "transfer", "x", " ");
    noKey("is null", "transfer", "x", Optional.empty());
    noKey("is a java.lang.Object, whose text differs", "transfer", "x", new Object());
    noKey("has an element that is a java.lang.Object", "transfer", "x", List.of(new Object()));
  }
}
