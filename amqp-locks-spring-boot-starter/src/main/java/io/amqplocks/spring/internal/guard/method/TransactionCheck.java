package io.amqplocks.spring.internal.guard.method;

import io.amqplocks.spring.internal.guard.declared.ExecutionMode;
import java.lang.reflect.Method;
import org.springframework.util.ClassUtils;

/**
 * Whether a method can hold its lock until a transaction completes. Apart from {@link
 * TransactionHold}, which cannot be loaded without spring-tx.
 */
final class TransactionCheck {

  private static final boolean HAS_TRANSACTIONS =
      ClassUtils.isPresent(
          "org.springframework.transaction.support.TransactionSynchronization",
          TransactionCheck.class.getClassLoader());

  private TransactionCheck() {}

  /** Throws {@link IllegalArgumentException} if there will be no transaction to wait for. */
  static void requirePossible(Method method, Class<?> targetClass, ExecutionMode mode) {
    if (mode != ExecutionMode.SYNCHRONOUS) {
      throw new IllegalArgumentException(
          "releaseAfter = TRANSACTION has no transaction to wait for where %s, since the work goes on without the calling thread: begin the transaction within the method"
              .formatted(mode.where(method)));
    }
    if (ExecutionMode.isAsync(method, targetClass)) {
      throw new IllegalArgumentException(
          "releaseAfter = TRANSACTION has no transaction to wait for on the thread of an @Async method: begin the transaction within the method");
    }
    if (!HAS_TRANSACTIONS) {
      throw new IllegalArgumentException(
          "releaseAfter = TRANSACTION needs Spring's transactions, which are not there: add spring-tx, or leave it out");
    }
  }
}
