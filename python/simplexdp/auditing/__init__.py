"""What an attacker sees: lower bounds on the privacy loss of any release, from its outputs alone.

A privacy curve says how much a release can tell at most; it is right if a proof and its code are. `audit` looks from
the other side: it runs the release on two neighbouring data sets and finds an event that tells them apart. The bounds
that follow hold with a stated confidence and assume nothing of the release, so one above a claim refutes the claim.
"""

from simplexdp.auditing.judgement import Audit, Event, audit
from simplexdp.auditing.worst import Pair, worst_pair

__all__ = ["Audit", "Event", "Pair", "audit", "worst_pair"]
