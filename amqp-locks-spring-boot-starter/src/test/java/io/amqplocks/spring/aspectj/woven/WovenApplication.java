package io.amqplocks.spring.aspectj.woven;

import com.rabbitmq.client.ConnectionFactory;
import io.amqplocks.AmqpLocks;
import io.amqplocks.lock.Lease;
import io.amqplocks.lock.LockId;
import io.amqplocks.spring.autoconfigure.AmqpLocksAutoConfiguration;
import io.amqplocks.spring.autoconfigure.AmqpLocksDisabledAutoConfiguration;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.boot.amqp.autoconfigure.RabbitAutoConfiguration;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.context.PropertyPlaceholderAutoConfiguration;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.task.SimpleAsyncTaskExecutor;
import org.springframework.scheduling.annotation.EnableAsync;

/**
 * An application whose classes are woven. It writes what it finds as lines of {@code name=value}.
 * Its arguments are properties.
 */
public final class WovenApplication {

  private final String[] properties;
  private final String mutex;

  WovenApplication(String[] properties) {
    this.properties = properties;
    mutex = property("test.lock");
  }

  @Configuration(proxyBeanMethods = false)
  @EnableAsync
  @ImportAutoConfiguration({
    PropertyPlaceholderAutoConfiguration.class,
    RabbitAutoConfiguration.class,
    AmqpLocksAutoConfiguration.class,
    AmqpLocksDisabledAutoConfiguration.class
  })
  static class Application {
    @Bean
    SimpleAsyncTaskExecutor taskExecutor() {
      return new SimpleAsyncTaskExecutor("async-");
    }
  }

  /** Runs it. */
  public static void main(String[] properties) throws Exception {
    new WovenApplication(properties).run();
  }

  private void run() throws Exception {
    try (AmqpLocks stranger = stranger()) {
      tell("before", () -> new OtherWork.Plain().work());
      woven(stranger);
      severalContexts();
      tell("after", () -> new OtherWork.Plain().work());
      proxies();
      disabled();
      tell("not inherited", () -> start(OtherWork.Unannotated.class, OtherWork.Plain.class));
      tell("overload", () -> start(OtherWork.Overloaded.class));
      tell("future", () -> start(OtherWork.Returning.class));
      tell("destroy", () -> start(OtherWork.Destroyed.class));
      System.setProperty("amqp-locks.enabled", "false");
      tell("switched off", () -> new OtherWork.Plain().work());
    }
    write("done");
  }

  AmqpLocks stranger() {
    ConnectionFactory broker = new ConnectionFactory();
    broker.setHost(property("spring.rabbitmq.host"));
    broker.setPort(Integer.parseInt(property("spring.rabbitmq.port")));
    broker.setUsername(property("spring.rabbitmq.username"));
    broker.setPassword(property("spring.rabbitmq.password"));
    broker.setVirtualHost(property("spring.rabbitmq.virtual-host"));
    AmqpLocks stranger =
        AmqpLocks.builder(broker).queuePrefix(property("amqp-locks.queue-prefix")).build();
    Outside.ask(stranger, mutex);
    return stranger;
  }

  private void woven(AmqpLocks stranger) throws Exception {
    try (AnnotationConfigApplicationContext context =
        context(
            "aspectj",
            mutex,
            Work.class,
            OtherWork.Started.class,
            OtherWork.OfFinalClass.class,
            OtherWork.Below.class,
            OtherWork.Proxied.class,
            OtherWork.BehindAnInterface.class,
            OtherWork.FallingBack.class,
            OtherWork.Overriding.class,
            OtherWork.Implementing.class,
            OtherWork.Inheriting.class)) {
      Work work = context.getBean(Work.class);
      tell("postConstruct", () -> context.getBean(OtherWork.Started.class).atStart);
      tell("private", work::callPrivate);
      tell("static", Work::ofStatic);
      tell("other annotation", work::ofOtherAnnotation);
      tell("reader and writer", work::callReader);
      tell("injected", work::callInjected);
      tellOnceFree("keyed", work::callKeyed);
      tell("stage", () -> work.callStage().get(30, TimeUnit.SECONDS));
      tell("mono", () -> work.callMono().block(Duration.ofSeconds(30)));
      tell("async", () -> work.async().get(30, TimeUnit.SECONDS));
      tell("async by itself", () -> work.callAsync().get(30, TimeUnit.SECONDS));
      tell("new", () -> new Work().ofFinal());
      tell("final class", () -> context.getBean(OtherWork.OfFinalClass.class).work());
      tell("class", () -> context.getBean(OtherWork.Below.class).work());
      tell("CGLIB proxy", () -> context.getBean(OtherWork.Proxied.class).work());
      tell("JDK proxy", () -> behindProxy(context.getBean(OtherWork.Working.class)).work());
      tell("overriding", () -> context.getBean(OtherWork.Overriding.class).work("me"));
      tell("of an interface", () -> context.getBean(OtherWork.Implementing.class).work());
      tell("of a superclass", () -> context.getBean(OtherWork.Inheriting.class).work());
      tellOnceFree("unannotated", () -> new OtherWork.Unannotated().work("me"));
      try (Lease mine = stranger.lock(LockId.mutex(mutex)).acquire(Duration.ofSeconds(20))) {
        tell("busy", () -> mine.lock().name().value().isEmpty() ? "" : work.callBusy());
        fallbacks(context.getBean(OtherWork.FallingBack.class));
      }
      tell("not as a fallback", () -> context.getBean(OtherWork.FallingBack.class).later(false));
      selfInvocations(work);
    }
  }

  private static void fallbacks(OtherWork.FallingBack bean) {
    tell("guarded fallback", () -> bean.work(false));
    tell("guarded fallback that fails", () -> bean.work(true));
    tell("static fallback", OtherWork.FallingBack::ofStatic);
    tell("called directly", () -> bean.later(false));
  }

  private static OtherWork.Working behindProxy(OtherWork.Working bean) {
    ProxyFactory factory = new ProxyFactory(bean);
    factory.setProxyTargetClass(false);
    return (OtherWork.Working) factory.getProxy(WovenApplication.class.getClassLoader());
  }

  /** Six threads, on two slots. */
  private static void selfInvocations(Work work) throws Exception {
    List<Thread> threads = new ArrayList<>();
    for (int i = 0; i < 6; i++) {
      Thread thread = new Thread(work::uploadAll, "upload-" + i);
      thread.start();
      threads.add(thread);
    }
    Awaitility.await()
        .atMost(Duration.ofSeconds(30))
        .until(
            () ->
                Work.INSIDE.get() >= 2
                    && threads.stream()
                        .allMatch(
                            thread ->
                                thread.getState() == Thread.State.WAITING
                                    || thread.getState() == Thread.State.TIMED_WAITING));
    write("inside=" + Work.INSIDE.get());
    new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8)).readLine();
    Work.END.countDown();
    for (Thread thread : threads) {
      thread.join(Duration.ofSeconds(30).toMillis());
    }
  }

  private void severalContexts() {
    AnnotationConfigApplicationContext one = context("aspectj", mutex, OtherWork.Plain.class);
    AnnotationConfigApplicationContext two =
        context("aspectj", mutex + "-two", OtherWork.Plain.class);
    OtherWork.Plain ofOne = one.getBean(OtherWork.Plain.class);
    OtherWork.Plain ofTwo = two.getBean(OtherWork.Plain.class);
    tell("bean of the first", ofOne::work);
    tellOnceFree("bean of the second", ofTwo::work);
    tell("new while both are open", () -> new OtherWork.Plain().work());
    two.close();
    tell("new when the second is closed", () -> new OtherWork.Plain().work());
    tell("bean of a closed one", ofTwo::work);
    one.close();
  }

  private void proxies() {
    try (AnnotationConfigApplicationContext proxies =
            context("proxy", mutex, OtherWork.Plain.class);
        AnnotationConfigApplicationContext later =
            context("aspectj", mutex, OtherWork.Below.class)) {
      OtherWork.Plain plain = proxies.getBean(OtherWork.Plain.class);
      tell("proxy", plain::work);
      tellOnceFree("proxy by itself", plain::callWork);
      tell("later context", () -> Boolean.toString(later.isActive()));
    }
  }

  private void disabled() {
    try (AnnotationConfigApplicationContext context =
        context("aspectj", mutex, "amqp-locks.enabled=false", OtherWork.Plain.class)) {
      tell("disabled", () -> context.getBean(OtherWork.Plain.class).work());
    }
  }

  private String start(Class<?>... beans) {
    try (AnnotationConfigApplicationContext context = context("aspectj", beans)) {
      return "started " + context.isActive();
    }
  }

  AnnotationConfigApplicationContext context(String mode, Class<?>... beans) {
    return context(mode, mutex, beans);
  }

  private AnnotationConfigApplicationContext context(String mode, String lock, Class<?>... beans) {
    return context(mode, lock, "amqp-locks.enabled=true", beans);
  }

  private AnnotationConfigApplicationContext context(
      String mode, String lock, String enabled, Class<?>... beans) {
    AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();
    TestPropertyValues.of(properties)
        .and("amqp-locks.annotations.mode=" + mode, "test.lock=" + lock, enabled)
        .applyTo(context);
    context.register(Application.class);
    context.register(beans);
    context.refresh();
    return context;
  }

  private String property(String name) {
    return Arrays.stream(properties)
        .filter(each -> each.startsWith(name + "="))
        .findFirst()
        .orElseThrow()
        .substring(name.length() + 1);
  }

  static void tell(String name, Callable<String> what) {
    String value;
    try {
      value = what.call();
    } catch (Exception e) {
      Throwable cause = e;
      while (cause.getCause() != null) {
        cause = cause.getCause();
      }
      value = String.valueOf(cause.getMessage()).replace("\n", " ");
    }
    write(name + "=" + value);
  }

  /** The same, for what is to find the mutex free after somebody has held it. */
  private static void tellOnceFree(String name, Callable<String> what) {
    tell(
        name,
        () -> {
          Outside.awaitFree();
          return what.call();
        });
  }

  static void write(String line) {
    System.out.println(line);
  }
}
