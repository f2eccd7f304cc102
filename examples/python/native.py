"""A worker that stands in the same queue by itself, with kazoo. It has no lease: only the fence keeps its late writes out."""

import logging
import os
import pathlib
import signal
import socket
import sys
import threading

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "clients" / "python"))

from kazoo.client import KazooClient  # noqa: E402
from kazoo.exceptions import NoNodeError  # noqa: E402
from kazoo.protocol.states import KazooState  # noqa: E402
from kazoo.recipe.lock import Lock  # noqa: E402

from ledger import Ledger, StaleToken  # noqa: E402
from tenure_client import protocol  # noqa: E402

logging.basicConfig(level=logging.CRITICAL)


class QueueLock(Lock):
    """kazoo's lock, with the node name that all libraries put in one order."""

    _NODE_NAME = "-lock-"
    _EXCLUDE_NAMES = ["-lock-"]


def floor(client, election):
    """What every token of this election has in addition."""
    try:
        data, _ = client.get(protocol.term_path(election))
    except NoNodeError:
        return 0  # Nobody of Tenure has led here yet.
    return int(protocol.decode_record(data)["floor"])


def main():
    election = os.environ.get("ELECTION", "settlement")
    name = os.environ.get("WORKER") or f"{socket.gethostname()}:{os.getpid()}"
    over = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: over.set())
    client = KazooClient(hosts=os.environ.get("ZK_SERVERS", "127.0.0.1:2181"), timeout=4)
    client.add_listener(lambda state: over.set() if state != KazooState.CONNECTED else None)
    client.start()
    ledger = Ledger()

    lock = QueueLock(client, protocol.queue_path(election), identifier=name)
    while not lock.acquire(timeout=None):
        pass
    stat = client.exists(f"{lock.path}/{lock.node}")
    token = protocol.token_of(floor(client, election), stat.czxid)
    print(f"{name} leads: token {token}", flush=True)
    try:
        while not over.is_set():
            ledger.write(token, name)
            print(f"{name} wrote with token {token}", flush=True)
            over.wait(0.1)
    except StaleToken as stale:
        print(f"{name} was refused: {stale}", flush=True)
    finally:
        client.stop()  # The node goes with the session.
    print(f"{name} has left", flush=True)


main()
