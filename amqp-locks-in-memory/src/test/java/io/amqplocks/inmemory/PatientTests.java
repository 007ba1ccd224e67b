package io.amqplocks.inmemory;

import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;

/** What tests await has more time than Awaitility's ten seconds: a busy machine takes its time. */
public final class PatientTests implements LauncherSessionListener {

  @Override
  public void launcherSessionOpened(LauncherSession session) {
    Awaitility.setDefaultTimeout(Duration.ofSeconds(30));
  }
}
