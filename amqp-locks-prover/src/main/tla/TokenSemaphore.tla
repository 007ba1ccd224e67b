--------------------------- MODULE TokenSemaphore ---------------------------
(* A token semaphore: each slot is a message. Who was sent it and has not acknowledged it holds the
   slot. The broker may take a message back without telling (a node that seemed to be gone, a queue
   process that crashed) and send it to another client, or to the same one. A holder verifies its
   token by giving it back and having it sent again: a message that is not its own any more cannot
   be given back, and brings nothing. *)
EXTENDS Naturals, FiniteSets

CONSTANTS Clients, Tokens, Variant
VARIABLES place,   \* token -> the client that it was sent to, or Ready
          mine,    \* client -> the token that it believes to hold, or None
          phase,   \* client -> "idle", "held" or "verifying"
          stale    \* client -> whether the broker took its token since it was told

Ready == "ready"
None == 0
vars == <<place, mine, phase, stale>>

Init == /\ place = [t \in Tokens |-> Ready]
        /\ mine = [c \in Clients |-> None]
        /\ phase = [c \in Clients |-> "idle"]
        /\ stale = [c \in Clients |-> FALSE]

\* To a client that wants one, or that waits for its own to come back.
Deliver(c, t) == /\ phase[c] \in {"idle", "verifying"}
                 /\ place[t] = Ready
                 /\ place' = [place EXCEPT ![t] = c]
                 /\ mine' = [mine EXCEPT ![c] = t]
                 /\ phase' = [phase EXCEPT ![c] = "held"]
                 /\ stale' = [stale EXCEPT ![c] = FALSE]

Back(c) == IF mine[c] # None /\ place[mine[c]] = c
           THEN [place EXCEPT ![mine[c]] = Ready] ELSE place

Release(c) == /\ phase[c] # "idle"
              /\ place' = Back(c)
              /\ mine' = [mine EXCEPT ![c] = None]
              /\ phase' = [phase EXCEPT ![c] = "idle"]
              /\ stale' = [stale EXCEPT ![c] = FALSE]

\* The message goes back, if it is still this client's. Others may get it now.
GiveBack(c) == /\ phase[c] = "held" /\ Variant # "verification asks only for the consumer"
               /\ place' = Back(c)
               /\ phase' = [phase EXCEPT ![c] = "verifying"]
               /\ UNCHANGED <<mine, stale>>

\* Nothing came in time: it is lost. Releasing it would give back what may be another's.
Overdue(c) == /\ phase[c] = "verifying"
              /\ mine' = [mine EXCEPT ![c] = None]
              /\ phase' = [phase EXCEPT ![c] = "idle"]
              /\ stale' = [stale EXCEPT ![c] = FALSE]
              /\ UNCHANGED place

\* The consumer lives, so all seems to be well.
AskConsumer(c) == /\ phase[c] = "held" /\ Variant = "verification asks only for the consumer"
                  /\ stale' = [stale EXCEPT ![c] = FALSE]
                  /\ UNCHANGED <<place, mine, phase>>

\* Whoever waits for its token holds it all the same.
Impatient(c) == /\ phase[c] = "verifying" /\ Variant = "held while it is verified"
                /\ phase' = [phase EXCEPT ![c] = "held"]
                /\ UNCHANGED <<place, mine, stale>>

TakeBack(t) == /\ place[t] # Ready
               /\ stale' = [stale EXCEPT ![place[t]] = TRUE]
               /\ place' = [place EXCEPT ![t] = Ready]
               /\ UNCHANGED <<mine, phase>>

Next == \/ \E c \in Clients : \/ Release(c) \/ GiveBack(c) \/ Overdue(c)
                              \/ AskConsumer(c) \/ Impatient(c)
        \/ \E c \in Clients, t \in Tokens : Deliver(c, t)
        \/ \E t \in Tokens : TakeBack(t)
Spec == Init /\ [][Next]_vars

Certain == {c \in Clients : phase[c] = "held" /\ ~stale[c]}
Capacity == Cardinality(Certain) <= Cardinality(Tokens)
=============================================================================
