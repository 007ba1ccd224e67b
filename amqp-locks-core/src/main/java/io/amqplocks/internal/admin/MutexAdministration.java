package io.amqplocks.internal.admin;

import io.amqplocks.internal.session.Answer;
import io.amqplocks.internal.session.Call;
import io.amqplocks.internal.session.Sessions;
import io.amqplocks.internal.session.Ticker;
import io.amqplocks.lock.LockId;
import io.amqplocks.lock.MutexAdmin;
import java.time.Duration;

/**
 * Looks at one mutex: somebody holds it while its queue is there.
 *
 * @param lock the mutex
 * @param queue its queue
 * @param sessions where to ask
 * @param callTimeout the bound on each call
 * @param ticker the time
 */
public record MutexAdministration(
    LockId lock, String queue, Sessions sessions, Duration callTimeout, Ticker ticker)
    implements MutexAdmin {

  @Override
  public boolean isHeld() {
    Call call = Call.on(lock, callTimeout, ticker);
    Answer answer = sessions.current(call).slots().exists(call, queue);
    if (answer == Answer.NONE) {
      throw call.unanswered("look for queue " + queue);
    }
    return answer != Answer.ABSENT;
  }
}
