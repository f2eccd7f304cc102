"""A candidate for one election, through the sidecar."""

from __future__ import annotations

import logging
import os
import random
import secrets
import socket
import threading
from contextlib import contextmanager
from typing import Any, Callable, Dict, Iterator, Mapping, Optional, TypeVar

from .clock import now
from .errors import Closed, NotLeading, SidecarError, SidecarUnreachable, TenureError
from .sidecar import Sidecar, encode
from .standing import Standing
from .term import Term

T = TypeVar("T")

_log = logging.getLogger("tenure_client")


class Candidacy:
    """One candidate. It stands in the queue while ``lead()`` or ``run()`` is under way.

    election: its name; segments are joined by ``/``.
    id: what this candidate is called in views and logs. Default ``hostname:pid:random``. Of two with one id at one sidecar
        the second waits until the first has gone.
    metadata: shown to observers, never interpreted.
    url, token: where the sidecar is; see Sidecar.
    drain_timeout: seconds that the work may take to stop when the leadership is given up or taken away in order.
    """

    def __init__(
        self,
        election: str,
        *,
        id: Optional[str] = None,
        metadata: Optional[Mapping[str, Any]] = None,
        url: Optional[str] = None,
        token: Optional[str] = None,
        drain_timeout: float = 30.0,
    ) -> None:
        self.election = election
        self.id = id if id is not None else f"{socket.gethostname()}:{os.getpid()}:{secrets.token_hex(4)}"
        self._sidecar = Sidecar(url, token)
        self._drain = drain_timeout
        self._wish: Dict[str, Any] = {
            "hold": "stream",
            "metadata": dict(metadata or {}),
            "drainTimeoutMs": round(drain_timeout * 1000),
        }
        self._standing: Optional[Standing] = None
        self._closed = threading.Event()
        self._busy = threading.Lock()

    @contextmanager
    def lead(self, timeout: Optional[float] = None) -> Iterator[Term]:
        """One term: waits in the queue, gives the term to the block, and leaves when the block ends.

        Raises TimeoutError when the term hasn't come within so many seconds, Closed after close(), SidecarError when the
        sidecar refuses the candidacy for good. An unreachable sidecar is waited for.
        """
        with self._alone():
            try:
                yield self._campaign(timeout)
            finally:
                self._leave()

    def run(self, work: Callable[[Term], T]) -> T:
        """Term after term: calls ``work`` in each, and joins again when the term was lost, for ever.

        Returns what ``work`` returns by itself, after leaving. An error of ``work`` ends it too, but for TermOver and
        NotLeading of a term that is over. Raises Closed after close(), and as ``lead``.
        """
        with self._alone():
            try:
                while True:
                    term = self._campaign(None)
                    try:
                        value = work(term)
                    except NotLeading:
                        if not term.cancelled.is_set():
                            raise
                    else:
                        if not term.cancelled.is_set():
                            return value
                    standing = self._standing
                    if standing is not None and not standing.settle():
                        self._leave()
            finally:
                self._leave()

    def close(self) -> None:
        """Ends what goes on, from another thread or a signal's handler: the term is cancelled, and when the work has
        stopped, the candidate leaves. Does not wait for that."""
        # In a thread of its own: a signal's handler may have interrupted one that holds a lock.
        threading.Thread(target=self._close, name="tenure-close", daemon=True).start()

    def _close(self) -> None:
        self._closed.set()
        standing = self._standing
        if standing is not None:
            standing.give_up()

    def __enter__(self) -> "Candidacy":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @contextmanager
    def _alone(self) -> Iterator[None]:
        if not self._busy.acquire(blocking=False):
            raise RuntimeError(f"{self.id} is a candidate already: a second one needs a Candidacy of its own")
        try:
            yield
        finally:
            self._busy.release()

    def _campaign(self, timeout: Optional[float]) -> Term:
        end = None if timeout is None else now() + timeout
        while True:
            standing = self._standing
            if standing is None:
                standing = self._standing = self._join(end)
            if self._closed.is_set():
                self._leave()
                raise Closed(f"the candidacy of {self.id} was closed")
            term = standing.wait(None if end is None else max(0.0, end - now()))
            if term is not None:
                if not term.cancelled.is_set():
                    return term
                # It ended before anybody could take it up.
                if not standing.settle():
                    self._leave()
                continue
            if end is not None and now() >= end:
                self._leave()
                raise TimeoutError(f"{self.id} does not lead {self.election} within {timeout} s")
            if not self._closed.is_set():
                self._standing = None

    def _join(self, end: Optional[float]) -> Standing:
        """Makes the candidacy, however long that takes."""
        path = f"/v1/elections/{encode(self.election)}/candidacy?id={encode(self.id)}"
        line = self._sidecar.line()
        delay = 0.1
        warned = False
        trouble: TenureError
        try:
            while True:
                sent_at = now()
                try:
                    _, answer = line.request("PUT", path, self._wish)
                except SidecarUnreachable as error:
                    pause, trouble = delay, error
                except SidecarError as error:
                    if not error.retriable:
                        raise
                    pause, trouble = min(delay if error.retry_after is None else error.retry_after, 5.0), error
                else:
                    standing = Standing(self._sidecar, self.election, self.id, answer["key"], self._drain)
                    standing.start(answer, sent_at)
                    return standing
                if not warned:
                    warned = True
                    _log.warning("%s: %s is not in the queue yet, and goes on trying: %s", self.election, self.id, trouble)
                delay = min(delay * 2, 2.0)
                if end is not None and now() + pause >= end:
                    raise TimeoutError(f"{self.id} could not join {self.election} in time")
                if self._closed.wait(pause * random.uniform(0.8, 1.2)):
                    raise Closed(f"the candidacy of {self.id} was closed")
        finally:
            line.close()

    def _leave(self) -> None:
        standing, self._standing = self._standing, None
        if standing is not None:
            standing.leave()
