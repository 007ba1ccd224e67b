------------------------------ MODULE Fencing ------------------------------
(* Fencing tokens of one slot, with hand-over inside a process. A process wins the slot at the
   broker, draws a number from a counter, and looks once more whether the slot is still its own.
   Then it hands the slot from lease to lease: the token is the number with the count of hand-overs
   behind it. The broker may free the slot at any time without telling, and what holds a lease may
   be stopped at any time and write later. A resource refuses a token below the highest that it has
   seen. No lease may write after a lease that superseded it. *)
EXTENDS Naturals

CONSTANTS Processes, Most, Variant
VARIABLES owner,    \* who has the slot at the broker, or None
          counter,  \* the number that was drawn last
          wins,     \* how often the slot was won
          phase,    \* process -> "idle", "won", "drawn" or "held"
          grant,    \* process -> the number that it drew, and its hand-overs
          rank,     \* process -> its place in the order of leases, which nobody knows
          old,      \* process -> a lease of it that ended, and may still write
          highest,  \* the highest token that the resource has seen
          latest,   \* the highest rank that has written
          broken    \* whether a lease wrote after one that superseded it

None == "none"
vars == <<owner, counter, wins, phase, grant, rank, old, highest, latest, broken>>
Lease == [token : Nat, rank : Nat]
NoLease == [token |-> 0, rank |-> 0]

\* Two parts as one number, the first of which counts more.
Pair(first, second) == first * (Most + 1) + second

Init == /\ owner = None /\ counter = 0 /\ wins = 0
        /\ phase = [p \in Processes |-> "idle"]
        /\ grant = [p \in Processes |-> <<0, 0>>]
        /\ rank = [p \in Processes |-> 0]
        /\ old = [p \in Processes |-> NoLease]
        /\ highest = 0 /\ latest = 0 /\ broken = FALSE

Resource == <<highest, latest, broken>>

Win(p) == /\ phase[p] = "idle" /\ owner = None /\ wins < Most
          /\ owner' = p
          /\ wins' = wins + 1
          /\ rank' = [rank EXCEPT ![p] = Pair(wins + 1, 0)]
          /\ phase' = [phase EXCEPT ![p] = "won"]
          /\ UNCHANGED <<counter, grant, old, Resource>>

Draw(p) == /\ phase[p] = "won"
           /\ counter' = counter + 1
           /\ grant' = [grant EXCEPT ![p] = <<counter + 1, 0>>]
           /\ phase' = [phase EXCEPT ![p] =
                          IF Variant = "no second look after the draw" THEN "held" ELSE "drawn"]
           /\ UNCHANGED <<owner, wins, rank, old, Resource>>

SecondLook(p) == /\ phase[p] = "drawn"
                 /\ phase' = [phase EXCEPT ![p] = IF owner = p THEN "held" ELSE "idle"]
                 /\ UNCHANGED <<owner, counter, wins, grant, rank, old, Resource>>

Token(p) == Pair(grant[p][1], grant[p][2])
Ended(p) == [token |-> Token(p), rank |-> rank[p]]

\* In good faith: the process may have lost the slot without knowing.
HandOver(p) == /\ phase[p] = "held" /\ grant[p][2] < Most
               /\ old' = [old EXCEPT ![p] = Ended(p)]
               /\ grant' = [grant EXCEPT ![p] = <<grant[p][1], grant[p][2] + 1>>]
               /\ rank' = [rank EXCEPT ![p] = rank[p] + 1]
               /\ UNCHANGED <<owner, counter, wins, phase, Resource>>

Release(p) == /\ phase[p] = "held"
              /\ old' = [old EXCEPT ![p] = Ended(p)]
              /\ phase' = [phase EXCEPT ![p] = "idle"]
              /\ owner' = IF owner = p THEN None ELSE owner
              /\ UNCHANGED <<counter, wins, grant, rank, Resource>>

Lose == /\ owner # None
        /\ owner' = None
        /\ UNCHANGED <<counter, wins, phase, grant, rank, old, Resource>>

Write(token, place) ==
  /\ token >= highest \/ Variant = "the resource does not check"
  /\ highest' = IF token > highest THEN token ELSE highest
  /\ broken' = (broken \/ place < latest)
  /\ latest' = IF place > latest THEN place ELSE latest
  /\ UNCHANGED <<owner, counter, wins, phase, grant, rank, old>>

WriteNow(p) == phase[p] = "held" /\ Write(Token(p), rank[p])

\* A stopped thread goes on, with what it read when its lease began, or with what it reads now.
WriteLate(p) == /\ old[p] # NoLease
                /\ Write(IF Variant = "the token is read when it is used" /\ phase[p] = "held"
                         THEN Token(p) ELSE old[p].token, old[p].rank)

Next == \/ Lose
        \/ \E p \in Processes : \/ Win(p) \/ Draw(p) \/ SecondLook(p) \/ HandOver(p)
                                \/ Release(p) \/ WriteNow(p) \/ WriteLate(p)
Spec == Init /\ [][Next]_vars

Order == ~broken
\* The lease of the slot's owner is never refused because of a lease that it superseded.
Rightful == \A p \in Processes :
  (phase[p] = "held" /\ owner = p /\ latest < rank[p]) => Token(p) >= highest
=============================================================================
