package io.amqplocks.spring;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;

/** Whether a class offers methods to other packages. */
final class PublicMethods extends ArchCondition<JavaClass> {

  static final ArchCondition<JavaClass> NONE = new PublicMethods();

  private PublicMethods() {
    super("have no public method");
  }

  @Override
  public void check(JavaClass item, ConditionEvents events) {
    item.getMethods().stream()
        .filter(method -> method.getModifiers().contains(JavaModifier.PUBLIC))
        .forEach(
            method -> events.add(SimpleConditionEvent.violated(method, method.getDescription())));
  }
}
