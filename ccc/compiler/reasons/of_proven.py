"""What is said of structures of which the source does not tell how members are updated, but PTX
does, as of a box that a function gives, ``box = joined(box, x)``."""

from __future__ import annotations

from ccc.compiler.reasons.handing_on import all_of, else_remove
from ccc.compiler.reasons.inquiry import Inquiry
from ccc.compiler.reasons.reduction_clauses import KEEPS
from ccc.frontend.reductions import clauses_of

_NAMED = "if the loop only updates members of {}, name those on the loop{}: {}"
_HIDDEN = (
    "if the loop only updates members of {}, update plain variables in their place, or make them "
    "public, and name these on the loop: {}"
)
_ALONG = ", but for what goes with the least or the most"


def of_proven(asked: Inquiry) -> Inquiry:
    """Where nothing but structures may be meant."""
    every = {one: asked.suspects.structure(asked.at, one) for one in asked.names if "." not in one}
    found = {name: one for name, one in every.items() if one is not None and not one.arrays}
    if not asked.proven or not found or len(found) != len(asked.names):
        return asked
    if any(one.private for one in found.values()):
        clauses = clauses_of((by, "variables") for by in asked.proven)
        return asked.settled(_HIDDEN.format(all_of([*found]), clauses) + else_remove(asked))
    members = [f"{name}.{one}" for name, whole in found.items() for one in whole.open]
    keeps = not KEEPS.keys().isdisjoint(asked.proven)
    if len(asked.proven) == 1 and members and not keeps:
        clauses, like = clauses_of((asked.proven[0], one) for one in members), ""
    else:
        clauses = clauses_of((by, "members") for by in asked.proven)
        like = (f', as "{members[0]}"' if members else "") + _ALONG * keeps
    return asked.settled(_NAMED.format(all_of([*found]), like, clauses) + else_remove(asked))
