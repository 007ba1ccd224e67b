---------------------------- MODULE ExpiringMutex ----------------------------
(* The mutex: a classic queue with a single active consumer and a message in it, which expires when
   it has no consumer. Who was sent a message holds. The others stand by in the order in which they
   came, and the broker promotes the next one when the active one goes. A queue that expired, with
   all its messages, is declared again by whoever misses it; who finds no message publishes one. *)
EXTENDS Naturals, Sequences, FiniteSets

CONSTANTS Clients, MostMessages, Variant
VARIABLES queue,     \* whether the queue exists
          messages,  \* how many messages are ready in it
          line,      \* its consumers, the active one first
          sent,      \* whether the active consumer was sent a message
          phase,     \* client -> "idle", "consuming" or "held"
          stale      \* client -> whether its consumer was ended since it was told

vars == <<queue, messages, line, sent, phase, stale>>

Init == /\ queue = FALSE /\ messages = 0 /\ line = <<>> /\ sent = FALSE
        /\ phase = [c \in Clients |-> "idle"]
        /\ stale = [c \in Clients |-> FALSE]

Consumes(c) == \E i \in 1..Len(line) : line[i] = c
Without(c) == SelectSeq(line, LAMBDA each : each # c)

\* Declares the queue if it is missing, and publishes a message into a new one.
Consume(c) == /\ phase[c] = "idle" /\ ~Consumes(c)
              /\ queue' = TRUE
              /\ messages' = IF queue THEN messages ELSE 1
              /\ line' = Append(line, c)
              /\ phase' = [phase EXCEPT ![c] =
                    IF Variant = "whoever consumes holds" THEN "held" ELSE "consuming"]
              /\ stale' = [stale EXCEPT ![c] = FALSE]
              /\ UNCHANGED sent

\* Surplus messages do no harm, such as those of clients that all found none.
Publish == /\ queue /\ messages < MostMessages
           /\ messages' = messages + 1
           /\ UNCHANGED <<queue, line, sent, phase, stale>>

Deliver == /\ line # <<>> /\ messages > 0 /\ ~sent /\ phase[Head(line)] = "consuming"
           /\ sent' = TRUE
           /\ messages' = messages - 1
           /\ phase' = [phase EXCEPT ![Head(line)] = "held"]
           /\ UNCHANGED <<queue, line, stale>>

\* The consumer is gone, and what it was sent is ready again.
End(c) == /\ line' = Without(c)
          /\ sent' = IF Head(line) = c THEN FALSE ELSE sent
          /\ messages' = IF Head(line) = c /\ sent THEN messages + 1 ELSE messages

Release(c) == /\ Consumes(c) /\ phase[c] # "idle"
              /\ End(c)
              /\ phase' = [phase EXCEPT ![c] = "idle"]
              /\ stale' = [stale EXCEPT ![c] = FALSE]
              /\ UNCHANGED queue

\* The broker ends it: a connection that it gave up, a node that is gone.
Lose(c) == /\ Consumes(c)
           /\ End(c)
           /\ stale' = [stale EXCEPT ![c] = TRUE]
           /\ UNCHANGED <<queue, phase>>

\* Its message can be given back only by the one consumer that was sent it.
Verify(c) == /\ phase[c] = "held"
             /\ IF Consumes(c) /\ ((Head(line) = c /\ sent)
                                   \/ Variant = "whoever consumes holds")
                THEN phase' = phase
                ELSE phase' = [phase EXCEPT ![c] = "idle"]
             /\ stale' = [stale EXCEPT ![c] = FALSE]
             /\ UNCHANGED <<queue, messages, line, sent>>

\* Who lost its consumer while it waited begins anew.
Notice(c) == /\ phase[c] = "consuming" /\ ~Consumes(c)
             /\ phase' = [phase EXCEPT ![c] = "idle"]
             /\ UNCHANGED <<queue, messages, line, sent, stale>>

Expire == /\ queue
          /\ line = <<>> \/ Variant = "it expires while it is used"
          /\ queue' = FALSE /\ messages' = 0 /\ sent' = FALSE /\ line' = <<>>
          /\ UNCHANGED <<phase, stale>>

Next == \/ Publish \/ Deliver \/ Expire
        \/ \E c \in Clients : Consume(c) \/ Release(c) \/ Lose(c) \/ Verify(c) \/ Notice(c)
Spec == Init /\ [][Next]_vars

Certain == {c \in Clients : phase[c] = "held" /\ ~stale[c]}
Exclusion == Cardinality(Certain) <= 1
=============================================================================
