package io.amqplocks.spring.observation;

import io.micrometer.common.docs.KeyName;
import io.micrometer.observation.Observation.Context;
import io.micrometer.observation.Observation.Event;
import io.micrometer.observation.ObservationConvention;
import io.micrometer.observation.docs.ObservationDocumentation;

/** The observations of locks, and their keys. */
public enum LockObservation implements ObservationDocumentation {

  /** A call for a lock, from its beginning until it has acquired a lease or ended without one. */
  ACQUIRE {
    @Override
    public Class<? extends ObservationConvention<? extends Context>> getDefaultConvention() {
      return DefaultLockAcquireConvention.class;
    }

    @Override
    public KeyName[] getLowCardinalityKeyNames() {
      return LowCardinality.values();
    }

    @Override
    public KeyName[] getHighCardinalityKeyNames() {
      return HighCardinality.values();
    }
  },

  /** A lease, from its acquire until it was released or lost. */
  HOLD {
    @Override
    public Class<? extends ObservationConvention<? extends Context>> getDefaultConvention() {
      return DefaultLockHoldConvention.class;
    }

    @Override
    public KeyName[] getLowCardinalityKeyNames() {
      return LowCardinality.values();
    }

    @Override
    public KeyName[] getHighCardinalityKeyNames() {
      return HighCardinality.values();
    }

    @Override
    public Event[] getEvents() {
      return Events.values();
    }
  };

  /** Keys with few values, which become tags of metrics. */
  public enum LowCardinality implements KeyName {

    /** The configured name, without a key; "(other)" for names that are not configured. */
    NAME {
      @Override
      public String asString() {
        return "amqp.locks.name";
      }
    },

    /** The kind of lock, for example "token semaphore". */
    TYPE {
      @Override
      public String asString() {
        return "amqp.locks.type";
      }
    },

    /**
     * How it ended. A call: acquired, busy, timeout, interrupted or error. A lease: released or
     * lost. Until then, none.
     */
    OUTCOME {
      @Override
      public String asString() {
        return "amqp.locks.outcome";
      }
    }
  }

  /** Keys with any number of values, for traces only. */
  public enum HighCardinality implements KeyName {

    /** The name of the lock, with its key. */
    LOCK {
      @Override
      public String asString() {
        return "amqp.locks.lock";
      }
    },

    /** Which slot was acquired; of several permits, the first one. */
    SLOT {
      @Override
      public String asString() {
        return "amqp.locks.slot";
      }
    },

    /** How many slots the lease has, if it has more than one. */
    PERMITS {
      @Override
      public String asString() {
        return "amqp.locks.permits";
      }
    },

    /** The fencing token of the lease, if it has one. */
    FENCING_TOKEN {
      @Override
      public String asString() {
        return "amqp.locks.fencing.token";
      }
    }
  }

  /** What happens to a lease. */
  public enum Events implements Event {

    /** The lease was lost, and not released. */
    LOST {
      @Override
      public String getName() {
        return "lost";
      }
    }
  }
}
