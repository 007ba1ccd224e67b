package io.amqplocks.inmemory;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import org.junit.jupiter.api.Test;

/** Libraries that a user may not have are used by the classes that need them, and nowhere else. */
class OptionalClassesTest {

  private final JavaClasses classes =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages("io.amqplocks.inmemory");

  @Test
  void ofAssertJ() {
    noClasses()
        .that()
        .haveNameNotMatching(".*\\.InMemoryLocksAssert(ions)?(\\$.*)?")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("org.assertj..")
        .check(classes);
  }

  @Test
  void ofJunit() {
    noClasses()
        .that()
        .haveNameNotMatching(".*\\.InMemoryLocksExtension(\\$.*)?")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("org.junit..")
        .check(classes);
  }

  @Test
  void ofSpring() {
    noClasses()
        .that()
        .resideOutsideOfPackage("io.amqplocks.inmemory.autoconfigure")
        .should()
        .dependOnClassesThat()
        .resideInAPackage("org.springframework..")
        .check(classes);
  }
}
