package io.amqplocks.spring;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaCodeUnit;
import com.tngtech.archunit.core.domain.JavaField;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.domain.JavaType;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import com.tngtech.archunit.library.dependencies.SliceAssignment;
import com.tngtech.archunit.library.dependencies.SliceIdentifier;
import io.amqplocks.spring.autoconfigure.AmqpLocksEndpointAutoConfiguration;
import io.amqplocks.spring.internal.time.Ticker;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;
import org.springframework.boot.autoconfigure.AutoConfiguration;

class ArchitectureTest {

  private static final String BASE = "io.amqplocks.spring";
  private static final String INTERNAL = BASE + ".internal.";

  private static final Set<String> CLOCKS =
      Set.of(
          "System.nanoTime",
          "System.currentTimeMillis",
          "Instant.now",
          "LocalDateTime.now",
          "OffsetDateTime.now",
          "ZonedDateTime.now",
          "InstantSource.system",
          "Clock.system",
          "Clock.systemUTC",
          "Clock.systemDefaultZone",
          "Clock.tickMillis");

  private final JavaClasses starter =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          .importPackages(BASE);

  /** Applications import the base package; what it uses of the internals knows nothing of it. */
  @Test
  void whatApplicationsImportUsesOnlyWhatIsBelowIt() {
    noClasses()
        .that()
        .resideInAPackage(BASE)
        .should()
        .dependOnClassesThat(
            resideInAPackage(BASE + ".*..")
                .and(
                    not(
                        resideInAnyPackage(
                            INTERNAL + "async",
                            INTERNAL + "disabled",
                            INTERNAL + "naming",
                            INTERNAL + "nesting"))))
        .check(starter);
    noClasses()
        .that()
        .resideInAPackage(BASE + ".observation")
        .should()
        .dependOnClassesThat()
        .resideInAPackage(BASE + ".internal..")
        .check(starter);
  }

  @Test
  void whatApplicationsImportExposesNoInternals() {
    classes()
        .that()
        .resideOutsideOfPackage(BASE + ".internal..")
        .should(
            new ArchCondition<>("expose no internals") {
              @Override
              public void check(JavaClass type, ConditionEvents events) {
                exposed(type)
                    .filter(exposed -> exposed.getPackageName().startsWith(INTERNAL))
                    .forEach(
                        exposed ->
                            events.add(
                                SimpleConditionEvent.violated(
                                    type, type.getName() + " exposes " + exposed.getName())));
              }
            })
        .check(starter);
  }

  /** All types in the public and protected signatures of that one. */
  private static Stream<JavaClass> exposed(JavaClass type) {
    if (!type.getModifiers().contains(JavaModifier.PUBLIC)) {
      return Stream.empty();
    }
    Stream<JavaType> members =
        Stream.concat(type.getCodeUnits().stream(), type.getFields().stream())
            .filter(
                member ->
                    member.getModifiers().contains(JavaModifier.PUBLIC)
                        || member.getModifiers().contains(JavaModifier.PROTECTED))
            .flatMap(
                member ->
                    member instanceof JavaCodeUnit method
                        ? Stream.concat(
                            Stream.of(method.getReturnType()), method.getParameterTypes().stream())
                        : Stream.of(((JavaField) member).getType()));
    Stream<JavaType> above =
        Stream.concat(type.getSuperclass().stream(), type.getInterfaces().stream());
    return Stream.concat(members, above).flatMap(each -> each.getAllInvolvedRawTypes().stream());
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
    slices()
        .assignedFrom(
            new SliceAssignment() {
              @Override
              public SliceIdentifier getIdentifierOf(JavaClass type) {
                return type.getPackageName().startsWith(BASE)
                    ? SliceIdentifier.of(type.getPackageName())
                    : SliceIdentifier.ignore();
              }

              @Override
              public String getDescription() {
                return "packages of the starter";
              }
            })
        .should()
        .beFreeOfCycles()
        .check(starter);
  }

  /** From what a method declares, over a call of it, to what guards it and what checks that. */
  @Test
  void eachPackageOfGuardsUsesOnlyThoseBelowIt() {
    List<String> upwards =
        Stream.of(".declared", ".method", ".call", "", ".woven", ".check")
            .map(each -> INTERNAL + "guard" + each)
            .toList();
    for (int i = 0; i < upwards.size() - 1; i++) {
      noClasses()
          .that()
          .resideInAPackage(upwards.get(i))
          .should()
          .dependOnClassesThat()
          .resideInAnyPackage(upwards.subList(i + 1, upwards.size()).toArray(new String[0]))
          .check(starter);
    }
  }

  /** So that a test can set it. */
  @Test
  void timeIsReadInFewPlaces() {
    noClasses()
        .that()
        .doNotBelongToAnyOf(Ticker.class, AmqpLocksEndpointAutoConfiguration.class)
        .should()
        .accessTargetWhere(
            DescribedPredicate.describe(
                "it reads the time of this machine",
                access ->
                    CLOCKS.contains(
                        access.getTargetOwner().getSimpleName() + "." + access.getName())))
        .check(starter);
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
