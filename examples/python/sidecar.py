"""A worker that leads by the sidecar, and writes with the token of its term until it is told to stop."""

import os
import pathlib
import signal
import sys

# So that it runs where the client isn't installed.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "clients" / "python"))

from ledger import Ledger, StaleToken  # noqa: E402
from tenure_client import Candidacy, Closed  # noqa: E402

candidacy = Candidacy(os.environ.get("ELECTION", "settlement"), id=os.environ.get("WORKER"))
ledger = Ledger()


def work(term):
    print(f"{candidacy.id} leads: token {term.token}", flush=True)
    while True:
        term.check()  # raises when the term is over, and the client joins the queue again
        try:
            ledger.write(term.token, candidacy.id, term.remaining())
            print(f"{candidacy.id} wrote with token {term.token}", flush=True)
        except StaleToken as stale:
            print(f"{candidacy.id} was refused: {stale}", flush=True)
        term.cancelled.wait(0.1)


# Close() cancels the term; the candidate leaves when work has noticed.
signal.signal(signal.SIGTERM, lambda *_: candidacy.close())
signal.signal(signal.SIGINT, lambda *_: candidacy.close())
try:
    candidacy.run(work)
except Closed:
    print(f"{candidacy.id} has left", flush=True)
