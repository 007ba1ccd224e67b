package io.amqplocks;

import static com.tngtech.archunit.base.DescribedPredicate.not;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.resideInAnyPackage;
import static com.tngtech.archunit.core.domain.JavaClass.Predicates.type;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.classes;
import static com.tngtech.archunit.lang.syntax.ArchRuleDefinition.noClasses;
import static com.tngtech.archunit.library.Architectures.layeredArchitecture;
import static com.tngtech.archunit.library.dependencies.SlicesRuleDefinition.slices;

import com.tngtech.archunit.base.DescribedPredicate;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import com.tngtech.archunit.lang.ArchCondition;
import com.tngtech.archunit.lang.ConditionEvents;
import com.tngtech.archunit.lang.SimpleConditionEvent;
import io.amqplocks.internal.broker.BrokerErrors;
import io.amqplocks.internal.broker.BrokerProfile;
import io.amqplocks.internal.broker.ClientCapabilities;
import io.amqplocks.internal.broker.FailureLog;
import io.amqplocks.internal.broker.Futures;
import io.amqplocks.internal.broker.OwnThreads;
import io.amqplocks.internal.broker.Ticker;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.NullMarked;
import org.junit.jupiter.api.Test;

class ArchitectureTest {

  private static final JavaClasses OURS =
      new ClassFileImporter()
          .withImportOption(new ImportOption.DoNotIncludeTests())
          // The test module shares our base package and no more.
          .withImportOption(location -> !location.contains("/io/amqplocks/test/"))
          .importPackages("io.amqplocks");

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

  @Test
  void packagesUseOnlyWhatIsBelowThem() {
    layeredArchitecture()
        .consideringOnlyDependenciesInLayers()
        .layer("facade")
        .definedBy("io.amqplocks")
        .layer("kinds")
        .definedBy(
            "io.amqplocks.internal.consuming..",
            "io.amqplocks.internal.exclusive..",
            "io.amqplocks.internal.mutex..",
            "io.amqplocks.internal.permits..",
            "io.amqplocks.internal.persistent..",
            "io.amqplocks.internal.readwrite..",
            "io.amqplocks.internal.slots..",
            "io.amqplocks.internal.fencing..",
            "io.amqplocks.internal.tokens..")
        .layer("waiting")
        .definedBy("io.amqplocks.internal.waiting")
        .layer("lease")
        .definedBy("io.amqplocks.internal.lease", "io.amqplocks.internal.wakeup")
        .layer("session")
        .definedBy("io.amqplocks.internal.session")
        .layer("broker")
        .definedBy("io.amqplocks.internal.broker")
        .layer("api")
        .definedBy("io.amqplocks.lock", "io.amqplocks.admin")
        .layer("on top of locks")
        .definedBy("io.amqplocks.leader", "io.amqplocks.consumer")
        .whereLayer("facade")
        .mayNotBeAccessedByAnyLayer()
        .whereLayer("on top of locks")
        .mayNotBeAccessedByAnyLayer()
        .whereLayer("kinds")
        .mayOnlyBeAccessedByLayers("facade")
        .whereLayer("waiting")
        .mayOnlyBeAccessedByLayers("facade", "kinds")
        .whereLayer("lease")
        .mayOnlyBeAccessedByLayers("facade", "kinds", "waiting")
        .whereLayer("session")
        .mayOnlyBeAccessedByLayers("facade", "kinds", "waiting", "lease")
        .whereLayer("broker")
        .mayOnlyBeAccessedByLayers(
            "facade", "kinds", "waiting", "lease", "session", "on top of locks")
        .ensureAllClassesAreContainedInArchitecture()
        .check(OURS);
    slices().matching("io.amqplocks.(**)").should().beFreeOfCycles().check(OURS);
  }

  @Test
  void theVocabularyKnowsNoBroker() {
    noClasses()
        .that()
        .resideInAnyPackage("io.amqplocks.lock", "io.amqplocks.admin")
        .should()
        .dependOnClassesThat()
        .resideInAnyPackage("com.rabbitmq..", "io.amqplocks.internal..", "org.slf4j..")
        .check(OURS);
  }

  /** Sole consumers have connections of their own, and ask what is there and why it refuses. */
  @Test
  void whatIsOnTopOfLocksKnowsOnlyLocks() {
    noClasses()
        .that()
        .resideInAPackage("io.amqplocks.leader")
        .should()
        .dependOnClassesThat(
            resideInAnyPackage("com.rabbitmq..", "io.amqplocks", "io.amqplocks.internal..")
                .and(not(type(FailureLog.class))))
        .check(OURS);
    noClasses()
        .that()
        .resideInAPackage("io.amqplocks.consumer")
        .should()
        .dependOnClassesThat(
            resideInAnyPackage("io.amqplocks", "io.amqplocks.internal..")
                .and(not(type(BrokerProfile.class)))
                .and(not(type(BrokerErrors.class)))
                .and(not(type(ClientCapabilities.class)))
                .and(not(type(FailureLog.class)))
                .and(not(type(OwnThreads.class))))
        .check(OURS);
  }

  @Test
  void publicMethodsOfTheFacadeDealInTheVocabulary() {
    noClasses()
        .that()
        .resideInAPackage("io.amqplocks")
        .and()
        .arePublic()
        .should(
            new ArchCondition<>("return or take internal types in public methods") {
              @Override
              public void check(JavaClass type, ConditionEvents events) {
                type.getMethods().stream()
                    .filter(method -> method.getModifiers().contains(JavaModifier.PUBLIC))
                    .filter(
                        method ->
                            method.getAllInvolvedRawTypes().stream()
                                .anyMatch(t -> t.getPackageName().contains("internal")))
                    .forEach(
                        method ->
                            events.add(
                                SimpleConditionEvent.satisfied(method, method.getFullName())));
              }
            })
        .check(OURS);
  }

  @Test
  void replyCodesAreReadInOnePlace() {
    noClasses()
        .that()
        .doNotHaveSimpleName("BrokerErrors")
        .should()
        .callMethod(com.rabbitmq.client.ShutdownSignalException.class, "getReason")
        .check(OURS);
  }

  /** So that a difference between brokers has one place, and a name. */
  @Test
  void onlyTheProfilesKnowWhichBrokerItIs() {
    noClasses()
        .that()
        .haveNameNotMatching(".*\\.internal\\.broker\\.(ServerVersion|\\w+Profile)")
        .should()
        .dependOnClassesThat()
        .haveSimpleName("ServerVersion")
        .orShould()
        .callMethodWhere(
            DescribedPredicate.describe(
                "it reads the server properties",
                call -> call.getTarget().getName().equals("getServerProperties")))
        .check(OURS);
  }

  @Test
  void namesSayWhatAThingIs() {
    Pattern empty = Pattern.compile(".*(Manager|Helper|Util|Utils|Impl)(\\$.*)?");
    classes()
        .should()
        .haveNameNotMatching(empty.pattern())
        .andShould()
        .notBeAnnotatedWith(Deprecated.class)
        .check(OURS);
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
        .check(OURS);
  }

  /**
   * So that tests can set it. What waits for a thread until a deadline waits in real time anyway.
   */
  @Test
  void timeIsReadInFewPlaces() {
    noClasses()
        .that()
        .doNotBelongToAnyOf(
            Ticker.class,
            Components.class, // which hands the clock to all others
            Futures.class)
        .and()
        .haveNameNotMatching(
            "io\\.amqplocks\\.(leader\\.TermCallbacks|consumer\\.(SoleConsumer|StallDetection|Worker))")
        .should()
        .accessTargetWhere(
            DescribedPredicate.describe(
                "it reads the time of this machine",
                access ->
                    CLOCKS.contains(
                        access.getTargetOwner().getSimpleName() + "." + access.getName())))
        .check(OURS);
  }

  @Test
  void nothingIsSynchronizedOrPrinted() {
    noClasses()
        .should()
        .accessField(System.class, "out")
        .orShould()
        .accessField(System.class, "err")
        .orShould()
        .callMethod(Thread.class, "sleep", long.class)
        .check(OURS);
    noClasses()
        .should(
            new ArchCondition<>("have synchronized methods") {
              @Override
              public void check(JavaClass type, ConditionEvents events) {
                type.getMethods().stream()
                    .filter(m -> m.getModifiers().contains(JavaModifier.SYNCHRONIZED))
                    .forEach(m -> events.add(SimpleConditionEvent.satisfied(m, m.getFullName())));
              }
            })
        .check(OURS);
  }
}
