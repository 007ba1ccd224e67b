package io.amqplocks.spring.aspectj.woven;

import io.amqplocks.spring.MutexGuarded;
import io.amqplocks.spring.OnBusy;
import jakarta.annotation.PostConstruct;
import jakarta.annotation.PreDestroy;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.springframework.scheduling.annotation.Async;

/** Classes that AspectJ guards, cannot guard, or should let pass. */
final class OtherWork {

  private OtherWork() {}

  static class Started {
    String atStart = "not called";

    @PostConstruct
    @MutexGuarded(name = "${test.lock}", maxWait = "30s")
    void start() {
      atStart = Outside.held();
    }
  }

  static final class OfFinalClass {
    @MutexGuarded(name = "${test.lock}", maxWait = "30s")
    String work() {
      return Outside.held();
    }
  }

  @MutexGuarded(name = "${test.lock}", maxWait = "30s")
  interface Annotated {}

  static class Above implements Annotated {
    public String work() {
      return Outside.held();
    }
  }

  static class Below extends Above {}

  /** Its proxy, which is there for another reason, is a subclass. */
  @MutexGuarded(name = "${test.lock}", maxWait = "30s")
  static class Proxied {
    public String work() {
      return Outside.held();
    }

    @Async
    public void later() {}
  }

  @MutexGuarded(name = "${test.lock}", maxWait = "30s")
  interface Working {
    String work();
  }

  static class BehindAnInterface implements Working {
    @Override
    public String work() {
      return Outside.held();
    }
  }

  abstract static class Base<T> {
    @MutexGuarded(name = "${test.lock}", maxWait = "30s")
    String work(T with) {
      return with + " " + Outside.held();
    }
  }

  /** One call acquires the mutex. The other one is part of it. */
  static class Overriding extends Base<String> {
    @Override
    @MutexGuarded(name = "${test.lock}", maxWait = "30s")
    String work(String with) {
      return super.work("super of " + with);
    }
  }

  /** Has no annotation of its own, and what it calls has one. */
  static class Unannotated extends Base<String> {
    @Override
    String work(String with) {
      return Outside.held() + ", " + super.work("super");
    }
  }

  /** What a proxy can guard too. */
  static class Plain {
    @MutexGuarded(name = "${test.lock}", maxWait = "30s")
    public String work() {
      return Outside.held();
    }

    public String callWork() {
      return this.work();
    }
  }

  /** Its fallbacks are guarded too, by its annotation. */
  @MutexGuarded(name = "${test.lock}", maxWait = "5s")
  static class FallingBack {
    @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.FALLBACK, fallbackMethod = "later")
    public String work(boolean fails) {
      return "not busy";
    }

    public String later(boolean fails) {
      if (fails) {
        throw new IllegalStateException("failed later");
      }
      return Outside.held() + " later";
    }

    @MutexGuarded(name = "${test.lock}", onBusy = OnBusy.FALLBACK, fallbackMethod = "laterOfStatic")
    static String ofStatic() {
      return "not busy";
    }

    @MutexGuarded(name = "${test.lock}", maxWait = "30s")
    static String laterOfStatic() {
      return Outside.held() + " later";
    }
  }

  /** AspectJ sees one of the two. */
  static class Overloaded extends Base<String> {
    @MutexGuarded(name = "${test.lock}", maxWait = "30s")
    String work(int with) {
      return with + " " + Outside.held();
    }

    @Override
    String work(String with) {
      return with + " " + Outside.held();
    }
  }

  interface AnnotatedMethod {
    @MutexGuarded(name = "${test.lock}", maxWait = "30s")
    String work();
  }

  static class Implementing implements AnnotatedMethod {
    @Override
    public String work() {
      return Outside.held();
    }
  }

  /** Acquires the mutex once, too. */
  static class Inheriting extends Plain {
    @Override
    public String work() {
      return Outside.held() + ", " + super.work();
    }
  }

  static class Returning {
    @MutexGuarded(name = "${test.lock}")
    private @Nullable Future<String> work() {
      return null;
    }

    @Nullable Future<String> callWork() {
      return work();
    }
  }

  static class Destroyed {
    @PreDestroy
    @MutexGuarded(name = "${test.lock}")
    void end() {}
  }
}
