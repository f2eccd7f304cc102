"""Leader election with fencing tokens, through Tenure's sidecar.

    from tenure_client import Candidacy

    with Candidacy("settlement").lead() as term:
        while work_is_left():
            term.check()                    # raises unless this process leads at this very moment
            settle(token=term.token)        # the resource refuses lower tokens

A term is held by a deadline that counts from when this process *sent* its last confirmed request. Nothing that arrives
late can lengthen it, and ``check()`` compares the clock itself: a process that was paused sees that its term is over
before it does anything else.
"""

from .candidacy import Candidacy
from .errors import Closed, NotLeading, SidecarError, SidecarUnreachable, TenureError, TermOver
from .sidecar import Sidecar
from .term import Term

__all__ = [
    "Candidacy",
    "Closed",
    "NotLeading",
    "Sidecar",
    "SidecarError",
    "SidecarUnreachable",
    "TenureError",
    "Term",
    "TermOver",
]
