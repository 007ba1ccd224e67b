--------------------------- MODULE SlotSemaphore ---------------------------
(* A slot semaphore: each slot has a durable queue A, which says that the slot exists, and an
   exclusive queue B, which says who holds it. A client that holds a slot may lose B without
   knowing, and an administrator may remove A at any time. A client is certain from when it was last
   told that it holds the slot until something changes that; then it is stale until it asks again.
   In the real protocol its clock ends that; here it is enough that it is not counted. *)
EXTENDS Naturals, FiniteSets

CONSTANTS Clients, Slots, Variant
VARIABLES exists,  \* slot -> whether A exists
          owner,   \* slot -> the client whose B it is, or None
          at,      \* client -> the slot that it tries or holds
          phase,   \* client -> "idle", "probed", "declared" or "held"
          stale    \* client -> whether something changed since it was told

None == "none"
vars == <<exists, owner, at, phase, stale>>

Init == /\ exists \in [Slots -> BOOLEAN]
        /\ owner = [s \in Slots |-> None]
        /\ at \in [Clients -> {CHOOSE s \in Slots : TRUE}]
        /\ phase = [c \in Clients |-> "idle"]
        /\ stale = [c \in Clients |-> FALSE]

Probe(c, s) == /\ phase[c] = "idle" /\ exists[s]
               /\ at' = [at EXCEPT ![c] = s]
               /\ phase' = [phase EXCEPT ![c] = "probed"]
               /\ UNCHANGED <<exists, owner, stale>>

\* B belongs to the one who declares it first.
Declare(c) == LET s == at[c] IN
  /\ phase[c] = "probed"
  /\ IF owner[s] = None
     THEN /\ owner' = [owner EXCEPT ![s] = c]
          /\ phase' = [phase EXCEPT ![c] =
                         IF Variant = "no second look at A" THEN "held" ELSE "declared"]
     ELSE /\ owner' = owner
          /\ phase' = [phase EXCEPT ![c] = "idle"]
  /\ stale' = [stale EXCEPT ![c] = FALSE]
  /\ UNCHANGED <<exists, at>>

GiveUp(c) == [s \in Slots |-> IF owner[s] = c /\ s = at[c] THEN None ELSE owner[s]]

\* The slot may have been removed since the probe, and B may have been lost.
SecondLook(c) == LET s == at[c] IN
  /\ phase[c] = "declared"
  /\ IF exists[s] /\ owner[s] = c
     THEN phase' = [phase EXCEPT ![c] = "held"] /\ owner' = owner
     ELSE phase' = [phase EXCEPT ![c] = "idle"] /\ owner' = GiveUp(c)
  /\ stale' = [stale EXCEPT ![c] = FALSE]
  /\ UNCHANGED <<exists, at>>

Verify(c) == LET s == at[c] IN
  /\ phase[c] = "held"
  /\ IF exists[s] /\ (owner[s] = c \/ Variant = "verification looks at A only")
     THEN phase' = phase /\ owner' = owner
     ELSE phase' = [phase EXCEPT ![c] = "idle"] /\ owner' = GiveUp(c)
  /\ stale' = [stale EXCEPT ![c] = FALSE]
  /\ UNCHANGED <<exists, at>>

Release(c) == /\ phase[c] # "idle"
              /\ owner' = GiveUp(c)
              /\ phase' = [phase EXCEPT ![c] = "idle"]
              /\ stale' = [stale EXCEPT ![c] = FALSE]
              /\ UNCHANGED <<exists, at>>

\* The broker frees B: a connection that it gave up, an operator who deletes the queue.
Lose(s) == /\ owner[s] # None
           /\ stale' = [stale EXCEPT ![owner[s]] = TRUE]
           /\ owner' = [owner EXCEPT ![s] = None]
           /\ UNCHANGED <<exists, at, phase>>

\* An administrator. Holders of a slot that is removed learn of it when they ask.
Remove(s) == /\ exists[s]
             /\ exists' = [exists EXCEPT ![s] = FALSE]
             /\ stale' = [c \in Clients |-> stale[c] \/ (at[c] = s /\ phase[c] = "held")]
             /\ UNCHANGED <<owner, at, phase>>
Add(s) == /\ ~exists[s]
          /\ exists' = [exists EXCEPT ![s] = TRUE]
          /\ UNCHANGED <<owner, at, phase, stale>>

Next == \/ \E c \in Clients : Declare(c) \/ SecondLook(c) \/ Verify(c) \/ Release(c)
        \/ \E c \in Clients, s \in Slots : Probe(c, s)
        \/ \E s \in Slots : Lose(s) \/ Remove(s) \/ Add(s)
Spec == Init /\ [][Next]_vars

Certain == {c \in Clients : phase[c] = "held" /\ ~stale[c]}
Exclusion == \A c, d \in Certain : at[c] = at[d] => c = d
Capacity == Cardinality(Certain) <= Cardinality({s \in Slots : exists[s]})
=============================================================================
