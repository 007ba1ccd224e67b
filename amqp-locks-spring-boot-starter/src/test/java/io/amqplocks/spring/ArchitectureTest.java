package io.amqplocks.spring;

import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfiguration;

class ArchitectureTest {

  private static final String BASE = "io.amqplocks.spring";

  private final JavaClasses starter =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages(BASE);

  @Test
  void whatUsersImportDependsOnNoOtherPackageOfTheStarter() {
    noClasses()
        .that()
        .resideInAPackage(BASE)
        .should()
        .dependOnClassesThat()
        .resideInAPackage(BASE + ".*..")
        .check(starter);
  }

  @Test
  void autoConfigurationIsOnTop() {
    noClasses()
        .that()
        .resideOutsideOfPackage(BASE + ".autoconfigure..")
        .should()
        .dependOnClassesThat()
        .resideInAPackage(BASE + ".autoconfigure..")
        .check(starter);
  }

  @Test
  void packagesHaveNoCycles() {
    slices().matching(BASE + ".(*)..").should().beFreeOfCycles().check(starter);
  }

  @Test
  void theCoresInternalsStayInternal() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .resideInAPackage("io.amqplocks.internal..")
        .check(starter);
  }

  @Test
  void nothingLinksToThePackageThatMovedInBoot42() {
    noClasses()
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage(
            "org.springframework.boot.amqp..", "org.springframework.boot.rabbitmq..")
        .check(starter);
  }

  @Test
  void autoConfigurationsArePublicFinalAndOfferNoMethods() {
    classes()
        .that()
        .areAnnotatedWith(AutoConfiguration.class)
        .should()
        .bePublic()
        .andShould()
        .haveModifier(JavaModifier.FINAL)
        .andShould(PublicMethods.NONE)
        .check(starter);
  }

  @Test
  void everyPackageIsNullMarked() {
    classes()
        .should(
            new ArchCondition<>("be in a @NullMarked package") {
              @Override
              public void check(JavaClass type, ConditionEvents events) {
                boolean marked = type.getPackage().isAnnotatedWith(NullMarked.class);
                events.add(new SimpleConditionEvent(type, marked, type.getPackageName()));
              }
            })
        .check(starter);
  }
}
