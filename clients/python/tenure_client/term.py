"""One leadership: its token, its deadline, and the signal that ends it."""

from __future__ import annotations

import threading
from typing import Any, Mapping, Optional

from .clock import now
from .errors import NotLeading, TermOver

# A timer sleeps through a suspension of the machine. So none sleeps longer than this.
_LONGEST_NAP = 0.5


class Cancelled(threading.Event):
    """Set when the term is over. It looks at the clock itself, so a process that was paused sees it set at once."""

    def __init__(self, term: "Term") -> None:
        super().__init__()
        self._term = term

    def is_set(self) -> bool:
        self._term._expire()
        return super().is_set()

    def wait(self, timeout: Optional[float] = None) -> bool:
        super().wait(timeout)
        return self.is_set()


class Term:
    """What the leader holds. ``token`` and ``number`` are constants; everything else is asked anew each time."""

    def __init__(
        self, election: str, id: str, number: int, token: int, previous: Optional[Mapping[str, Any]], until: float
    ) -> None:
        self.election = election
        #: The candidate's id.
        self.id = id
        #: 1, 2, 3, … per election.
        self.number = number
        #: The fencing token: send it with every write. A whole number up to 2**63 - 1.
        self.token = token
        #: The term before this one, as the record tells it, or None.
        self.previous = previous
        #: Why it is over; None while it lasts.
        self.reason: Optional[str] = None
        #: Set at the latest at the deadline. Stop the work then.
        self.cancelled = Cancelled(self)
        self._changed = threading.Condition()
        # The deadline of the newest licence. When it passes, the term is over.
        self._until = until
        # Whether the sidecar vouches for the term at present. Without that nothing may be done, but the term can come back.
        self._vouched = True

    def check(self) -> None:
        """Call it right before each effect.

        Raises TermOver when the term is over, NotLeading while the sidecar can't vouch for it.
        """
        with self._changed:
            self._expire()
            if self.reason is not None:
                raise TermOver(f"term {self.number} of {self.election} is over: {self.reason}", self.reason)
            if not self._vouched:
                raise NotLeading(f"term {self.number} of {self.election} is suspect: the sidecar can't vouch for it now")

    def remaining(self) -> float:
        """Seconds for which this process may act yet, if nothing else comes in. 0 when it may not act."""
        with self._changed:
            self._expire()
            return self._until - now() if self._vouched and self.reason is None else 0.0

    def __repr__(self) -> str:
        return f"Term({self.election!r}, number={self.number}, token={self.token}, reason={self.reason!r})"

    # What follows is for the candidacy.

    def _start(self) -> None:
        threading.Thread(target=self._watch, name=f"tenure-deadline-{self.number}", daemon=True).start()

    def _extend(self, until: float) -> None:
        """Takes a newer licence. A term that is over stays over."""
        with self._changed:
            self._expire()
            if self.reason is None:
                self._until = until
                self._vouched = True

    def _suspend(self) -> None:
        """Nothing may be done until a later licence; without one the term ends at the deadline that was given."""
        with self._changed:
            self._vouched = False

    def _cancel(self, reason: str) -> None:
        with self._changed:
            if self.reason is None:
                self.reason = reason
                self.cancelled.set()
                self._changed.notify_all()

    def _expire(self) -> None:
        with self._changed:
            if self.reason is None and now() >= self._until:
                self._cancel("deadline")

    def _watch(self) -> None:
        with self._changed:
            while True:
                self._expire()
                if self.reason is not None:
                    return
                self._changed.wait(min(self._until - now(), _LONGEST_NAP))
