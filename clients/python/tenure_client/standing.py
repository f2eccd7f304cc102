"""One candidacy as the sidecar knows it, by its key: what keeps it alive, and what it learns of its term."""

from __future__ import annotations

import logging
import threading
from typing import Any, Dict, Mapping, Optional, Tuple

from .clock import now
from .errors import SidecarError, SidecarUnreachable, TenureError
from .sidecar import Sidecar, encode
from .term import Term

_log = logging.getLogger("tenure_client")

# How often the sidecar is asked while this candidate waits, and how long an answer may take.
_INTERVAL = 2.0
_PATIENCE = 5.0
# A stream without a sign of life for so long is opened again; a beat comes each second.
_SILENCE = 5.0
# While the sidecar doesn't answer, this long between two attempts.
_AGAIN = 0.2
# The least that an answer may take, and how often is asked while a term is suspect.
_BRIEF = 0.5
# The sidecar's words for a term that has ended there, for which it waits until the work has stopped.
_ENDING = ("draining", "lost")


class Standing:
    """Two threads: one asks and extends the deadline, one listens and cuts it short. ``close()`` ends both."""

    def __init__(self, sidecar: Sidecar, election: str, id: str, key: str, drain: float) -> None:
        path = f"/v1/elections/{encode(election)}"
        self._sidecar = sidecar
        self._election = election
        self._id = id
        self._path = f"{path}/candidacy?id={encode(id)}"
        self._stream = f"{path}/events?id={encode(id)}"
        self._headers = {"Candidacy-Key": key}
        self._drain = drain
        # Guards all that follows, and tells of each change.
        self._changed = threading.Condition()
        self._term: Optional[Term] = None
        self._ended: Optional[Tuple[int, int]] = None
        self._state = "joining"
        self._version = -1
        self._may_act = 0.0
        self._wake = False
        # Whether the sidecar has forgotten this candidacy, and whether we have no use for it any more.
        self._gone = False
        self._closed = False
        # When this program gave it up.
        self._given_up: Optional[float] = None
        self._asking = sidecar.line()
        self._listening = sidecar.line()

    def start(self, answer: Mapping[str, Any], sent_at: float) -> None:
        """``answer`` is that of the request that made the candidacy."""
        with self._changed:
            self._learn(answer, sent_at)
        for work in (self._ask, self._listen):
            threading.Thread(target=work, name=f"tenure-{work.__name__[1:]}-{self._id}", daemon=True).start()

    def wait(self, timeout: Optional[float]) -> Optional[Term]:
        """The term, once there is one; None when the time is over, or the candidacy (see ``over``), or it was given up."""
        with self._changed:
            self._changed.wait_for(lambda: self._term is not None or self._useless, timeout)
            return None if self._useless else self._term

    @property
    def _useless(self) -> bool:
        return self.over or self._given_up is not None

    def give_up(self) -> None:
        """Cancels the term. The candidacy is kept until its work has stopped and ``leave`` is called."""
        with self._changed:
            if self._given_up is None:
                self._given_up = now()
            self._cut("closed")
            self._changed.notify_all()

    @property
    def over(self) -> bool:
        return self._gone or self._closed

    def settle(self) -> bool:
        """The work of the term has stopped. False when the sidecar takes the term for running: then leave."""
        with self._changed:
            term, self._term = self._term, None
            if term is not None:
                term._cancel("released")
                self._ended = (term.number, term.token)
            if self.over or self._state not in _ENDING:
                return False
            self._wake_up()
            return True

    def leave(self, patience: float = _PATIENCE) -> None:
        """Ends the candidacy here and at the sidecar, which needs its confirmation only to be quick. Never raises."""
        settled = self.settle()
        self.close()
        line = self._sidecar.line()
        end = now() + patience
        while not self._gone:
            try:
                if settled:
                    line.request("PUT", self._path, {"settled": True}, self._headers, 1.0)
                    settled = False
                line.request("DELETE", self._path, None, self._headers, 1.0)
                break
            except SidecarError as error:
                if not error.retriable or error.status == 409:
                    break
            except SidecarUnreachable:
                pass
            if now() >= end:
                _log.warning("%s: the sidecar doesn't hear that %s has left; it will notice", self._election, self._id)
                break
            threading.Event().wait(_AGAIN)
        line.close()

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()
        self._listening.interrupt()

    def _wake_up(self) -> None:
        self._wake = True
        self._changed.notify_all()

    # Asking.

    def _ask(self) -> None:
        pause = 0.0
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._wake or self.over, pause)
                self._wake = False
                if self.over:
                    break
                term = self._term
                # Nobody works here: the sidecar may go on.
                settled = term is None and self._state in _ENDING
                # The term ended here while the sidecar takes it for running: asking would lengthen what nobody uses.
                drains = self._given_up is not None and now() - self._given_up < self._drain
                if term is not None and term.cancelled.is_set() and self._state not in _ENDING and not drains:
                    pause = _INTERVAL
                    continue
                limit = _PATIENCE if term is None else max(_BRIEF, min(self._may_act / 2, _PATIENCE))
            sent_at = now()
            try:
                _, answer = self._asking.request(
                    "PUT", self._path, {"settled": True} if settled else {}, self._headers, limit
                )
            except SidecarError as error:
                pause = error.retry_after if error.retry_after is not None else _AGAIN
                if error.status in (400, 404, 409):
                    self._lose("the sidecar knows this candidacy no more")
                    break
                pause = min(pause, _INTERVAL)
            except SidecarUnreachable:
                pause = _AGAIN
            else:
                with self._changed:
                    if self.over:
                        break
                    pause = self._learn(answer, sent_at)
        self._asking.close()

    # Listening.

    def _listen(self) -> None:
        while not self.over:
            try:
                self._listening.events(self._stream, self._headers, _SILENCE, self._hear)
            except TenureError as error:
                _log.debug("%s: the stream of %s: %s", self._election, self._id, error)
            with self._changed:
                self._wake_up()
                self._changed.wait_for(lambda: self.over, _AGAIN)
        self._listening.close()

    def _hear(self, name: str, data: Dict[str, Any]) -> None:
        with self._changed:
            if name == "candidacy":
                self._learn(data, None)
            elif name == "end":
                self._cut(f"the sidecar ended the candidacy: {data.get('reason')}")
                self._wake_up()

    # What either of them learns.

    def _learn(self, news: Mapping[str, Any], sent_at: Optional[float]) -> float:
        """Takes news, and says in how many seconds to ask again.

        ``sent_at`` is when the request was sent that this answers; None for an event, which never lengthens anything.
        """
        version = news.get("version")
        if not isinstance(version, int) or version < self._version:
            # Overtaken by what came on the other connection; or no news of a sidecar at all.
            return _AGAIN
        fresh = version > self._version
        self._version = version
        self._state = str(news.get("state"))
        term = self._term
        if not news.get("leading"):
            self._may_act = 0.0
            if term is not None and self._state in ("leading", "suspect") and _holds(term, news):
                term._suspend()
            else:
                self._cut(str(news.get("reason") or self._state))
        elif sent_at is not None:
            self._may_act = news["mayActMs"] / 1000
            if term is None and _named(news) != self._ended:
                until = sent_at + self._may_act
                self._term = term = Term(self._election, self._id, *_named(news), news.get("previous"), until)
                term._start()
                self._changed.notify_all()
            elif term is not None and _holds(term, news):
                term._extend(sent_at + self._may_act)
            else:
                self._cut("another term has begun")
        elif term is not None and not _holds(term, news):
            self._cut("another term has begun")
        if sent_at is None and fresh:
            self._wake_up()
        if self._may_act > 0:
            return self._may_act / 3
        return _INTERVAL if term is None or term.reason is not None else _BRIEF

    def _cut(self, reason: str) -> None:
        if self._term is not None:
            self._term._cancel(reason)

    def _lose(self, reason: str) -> None:
        with self._changed:
            self._cut(reason)
            self._gone = True
            self._changed.notify_all()
        self._listening.interrupt()


def _named(news: Mapping[str, Any]) -> Tuple[int, int]:
    return int(news["term"]), int(news["token"])


def _holds(term: Term, news: Mapping[str, Any]) -> bool:
    return news.get("term") is not None and _named(news) == (term.number, term.token)
