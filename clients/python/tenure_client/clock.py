"""The clock that deadlines count by: never the wall clock, and where there is one, a clock that counts suspension too."""

from __future__ import annotations

import time

_BOOT = getattr(time, "CLOCK_BOOTTIME", None)


def now() -> float:
    """Seconds since some moment in the past."""
    return time.monotonic() if _BOOT is None else time.clock_gettime(_BOOT)
