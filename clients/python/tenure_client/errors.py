"""What can go wrong. Every error has a stable ``code``, and says whether the same call can succeed later."""

from __future__ import annotations

from typing import Optional


class TenureError(Exception):
    """The base of all errors here."""

    code = "tenure"
    retriable = False


class NotLeading(TenureError):
    """The term can't be vouched for at this moment. It may come back: check again before the next step."""

    code = "not_leading"
    retriable = True


class TermOver(NotLeading):
    """The term is over, for good. ``reason`` says why."""

    code = "term_over"
    retriable = False

    def __init__(self, message: str, reason: str) -> None:
        super().__init__(message)
        self.reason = reason


class Closed(TenureError):
    """The candidacy was closed by this program."""

    code = "closed"


class SidecarUnreachable(TenureError):
    """No answer from the sidecar."""

    code = "sidecar_unreachable"
    retriable = True


class SidecarError(TenureError):
    """The sidecar's answer says no. ``status`` and ``code`` are its own, see its OpenAPI document."""

    def __init__(self, status: int, code: str, detail: str, retry_after: Optional[float] = None) -> None:
        super().__init__(f"{detail or 'refused'} ({status} {code})")
        self.status = status
        self.code = code
        self.detail = detail
        self.retry_after = retry_after
        self.retriable = status == 409 or status == 429 or status >= 500
