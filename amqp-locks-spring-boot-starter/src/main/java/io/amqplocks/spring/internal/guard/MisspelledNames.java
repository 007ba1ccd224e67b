package io.amqplocks.spring.internal.guard;

import io.amqplocks.spring.internal.catalog.LockCatalog;
import io.amqplocks.spring.internal.naming.FamilyId;
import java.util.Collection;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Warns of names in properties that are almost those of annotations, such as {@code imagess}: such
 * a property has no effect. A name that is like no other may be one of a {@code LockTemplate}, and
 * nothing is said of it.
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
    for (FamilyId configured : catalog.withoutAnnotation()) {
      used.stream()
          .filter(name -> areAlmostEqual(name, configured))
          .findFirst()
          .ifPresent(
              name ->
                  log.warn(
                      "{} configures the {}, which no annotation names; one names the {}. Correct the"
                          + " property if it is meant for that",
                      configured.property(),
                      configured,
                      name));
    }
  }

  private static boolean areAlmostEqual(FamilyId first, FamilyId second) {
    String one = first.name().value();
    String other = second.name().value();
    int longest = Math.max(one.length(), other.length());
    return first.family() == second.family()
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
