package io.amqplocks.spring.internal.guard.check;

import io.amqplocks.spring.internal.catalog.LockCatalog;
import io.amqplocks.spring.internal.guard.method.Guard;
import io.amqplocks.spring.internal.guard.method.GuardedMethod;
import io.amqplocks.spring.internal.guard.method.GuardedMethods;
import io.amqplocks.spring.internal.naming.FamilyId;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Reports names in properties that no annotation has. One that is almost an annotation's, such as
 * {@code imagess}, is a WARN: such a property has no effect. Any other may be a name of a {@code
 * LockTemplate}, whose names are not known before they are used, and is reported at INFO.
 */
public final class MisspelledNames extends StartupCheck {

  private static final Logger log = LoggerFactory.getLogger(MisspelledNames.class);

  /** How many letters may differ. */
  private static final int ALMOST = 2;

  private final GuardedMethods methods;
  private final LockCatalog catalog;

  /** Compares the names of those methods with the configured ones of that catalog. */
  public MisspelledNames(GuardedMethods methods, LockCatalog catalog) {
    super(AFTER_CREATION);
    this.methods = methods;
    this.catalog = catalog;
  }

  @Override
  void check() {
    List<FamilyId> used =
        methods.all().stream()
            .map(GuardedMethod::guards)
            .flatMap(Collection::stream)
            .map(Guard::lock)
            .distinct()
            .toList();
    List<String> unknown = new ArrayList<>();
    for (FamilyId configured : catalog.withoutAnnotation()) {
      Optional<FamilyId> meant =
          used.stream().filter(name -> areAlmostEqual(name, configured)).findFirst();
      meant.ifPresentOrElse(
          name ->
              log.warn(
                  "{} configures the {}, which no annotation names; one names the {}. Correct the"
                      + " property if it is meant for that",
                  configured.property(),
                  described(configured),
                  name),
          () -> unknown.add(configured.property()));
    }
    if (!unknown.isEmpty()) {
      log.info(
          "No annotation has the names of these properties, which are for the LockTemplate only: {}",
          String.join(", ", unknown));
    }
  }

  private static String described(FamilyId lock) {
    return lock.otherSide().isPresent() ? "read-write lock '" + lock.name() + "'" : lock.toString();
  }

  private static boolean areAlmostEqual(FamilyId first, FamilyId second) {
    String one = first.name().value();
    String other = second.name().value();
    int longest = Math.max(one.length(), other.length());
    return FamilyId.group(first.family()).equals(FamilyId.group(second.family()))
        && longest > 2 * ALMOST
        && distance(one, other) <= ALMOST;
  }

  /** The Levenshtein distance: how many letters to add, remove or replace. */
  static int distance(String one, String other) {
    int[] last = new int[other.length() + 1];
    for (int j = 0; j <= other.length(); j++) {
      last[j] = j;
    }
    for (int i = 1; i <= one.length(); i++) {
      int diagonal = last[0];
      last[0] = i;
      for (int j = 1; j <= other.length(); j++) {
        int replaced = diagonal + (one.charAt(i - 1) == other.charAt(j - 1) ? 0 : 1);
        diagonal = last[j];
        last[j] = Math.min(replaced, 1 + Math.min(last[j], last[j - 1]));
      }
    }
    return last[other.length()];
  }
}
