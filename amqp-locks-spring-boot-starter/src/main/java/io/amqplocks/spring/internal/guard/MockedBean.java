package io.amqplocks.spring.internal.guard;

import java.lang.reflect.Method;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Tells the mocks and spies of Mockito, which a test has put in a bean's place: they have no proxy
 * and need no lock. Mockito is asked, since its mocks may be of the mocked class itself.
 */
public final class MockedBean {

  private MockedBean() {}

  public static boolean is(Object bean) {
    ClassLoader loader = bean.getClass().getClassLoader();
    if (!ClassUtils.isPresent("org.mockito.Mockito", loader)) {
      return false;
    }
    try {
      Class<?> mockito = ClassUtils.forName("org.mockito.Mockito", loader);
      Object details = mockito.getMethod("mockingDetails", Object.class).invoke(null, bean);
      Method isMock = ClassUtils.forName("org.mockito.MockingDetails", loader).getMethod("isMock");
      return Boolean.TRUE.equals(ReflectionUtils.invokeMethod(isMock, details));
    } catch (ReflectiveOperationException e) {
      return false; // another Mockito than is known
    }
  }
}
