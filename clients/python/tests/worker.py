"""A worker for the tests that kill and freeze it: leads term after term, and says on standard output what it does.

Its argument is JSON: url, election, id, and optionally bearer, drainMs (how long its work takes to stop) and views (it looks
at the election first, and ends when that is refused). A line "resign" on standard input ends the work, "close" the candidacy; the end of it ends the process.
"""

import json
import os
import sys
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))

from tenure_client import Candidacy, Closed, NotLeading, Sidecar, TenureError, TermOver  # noqa: E402

options = json.loads(sys.argv[1])
candidacy = Candidacy(
    options["election"], id=options["id"], url=options["url"], token=options.get("bearer"), metadata={"speaks": "Python"}
)
resigned = threading.Event()
writing = threading.Lock()


def monotonic_ms():
    return time.clock_gettime(time.CLOCK_MONOTONIC) * 1000


def say(event, at=None, **fields):
    with writing:
        print(json.dumps({"event": event, "at": monotonic_ms() if at is None else at, **fields}), flush=True)


def listen():
    for line in sys.stdin:
        if line.strip() == "resign":
            resigned.set()
        elif line.strip() == "close":
            candidacy.close()
    os._exit(0)


def work(term):
    token = str(term.token)
    say("term", token=token, term=term.number, previous=term.previous)

    def tell():
        term.cancelled.wait()
        if term.reason != "released":
            say("cancelled", token=token, reason=term.reason)

    threading.Thread(target=tell, daemon=True).start()
    while not resigned.is_set():
        # Taken before the check: what is paused between the two must not pass for an act.
        at = monotonic_ms()
        try:
            term.check()
            say("act", at, token=token, remainingMs=term.remaining() * 1000)
        except TermOver as error:
            say("over", token=token, reason=error.reason)
            time.sleep(options.get("drainMs", 0) / 1000)
            say("stopped", token=token)
            raise
        except NotLeading:
            say("suspect", at, token=token)
        time.sleep(0.025)
    return "resigned"


threading.Thread(target=listen, daemon=True).start()
say("ready")
try:
    if options.get("views"):
        say("viewed", state=Sidecar(options["url"]).view(options["election"])["state"])
    say("left", how=candidacy.run(work))
except Closed as error:
    say("left", how=error.code)
except TenureError as error:
    say("failed", code=error.code, message=str(error))
