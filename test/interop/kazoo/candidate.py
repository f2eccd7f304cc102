"""A candidate by kazoo's own recipe; README.md beside this folder has the protocol.

candidate.py SERVERS PATH ID SESSION_TIMEOUT_MS RECIPE

RECIPE: `shared` (the node name that all others order), `patterns` (kazoo's own node name, and the others' as an extra
pattern) or `default`.
"""

import json
import logging
import sys
import threading
import time

from kazoo.client import KazooClient
from kazoo.protocol.states import KazooState
from kazoo.recipe.election import Election
from kazoo.recipe.lock import Lock

logging.basicConfig(level=logging.CRITICAL)


class SharedLock(Lock):
    """Named as Curator and go-zookeeper name theirs, and excluded by theirs."""

    _NODE_NAME = "-lock-"
    _EXCLUDE_NAMES = ["-lock-"]


def now():
    return time.monotonic_ns() / 1e6


def say(event, **fields):
    print(json.dumps({"event": event, **fields}), flush=True)


class Candidate:
    def __init__(self, servers, path, name, timeout_ms, recipe):
        self.path, self.name, self.recipe = path, name, recipe
        self.client = KazooClient(hosts=servers, timeout=timeout_ms / 1000)
        self.client.add_listener(self.on_state)
        self.client.start(timeout=30)
        self.over = threading.Event()
        self.leading = False
        self.guard = threading.Lock()
        self.election = None

    def lock(self):
        if self.recipe == "shared":
            return SharedLock(self.client, self.path, self.name)
        patterns = ["-lock-"] if self.recipe == "patterns" else []
        return Lock(self.client, self.path, self.name, extra_lock_patterns=patterns)

    def token(self):
        session = self.client.client_id[0]
        for child in self.client.get_children(self.path):
            stat = self.client.exists(self.path + "/" + child)
            if stat is not None and stat.ephemeralOwner == session:
                return str(stat.czxid)
        return None

    def join(self):
        self.election = Election(self.client, self.path, self.name)
        self.election.lock = self.lock()
        threading.Thread(target=self.campaign, daemon=True).start()

    def campaign(self):
        try:
            self.election.run(self.lead)
        except Exception as error:
            say("failed", error=repr(error))

    def lead(self):
        at = now()
        self.over.clear()
        with self.guard:
            self.leading = True
        say("led", at=at, token=self.token())
        if self.client.state != KazooState.CONNECTED:
            self.lost(self.client.state)
        self.over.wait()

    def lost(self, why):
        with self.guard:
            if not self.leading:
                return
            self.leading = False
            say("lost", at=now(), why=why)
        self.over.set()

    def on_state(self, state):
        if state != KazooState.CONNECTED:
            self.lost(state)

    def leave(self):
        if self.leading:
            self.lost("resigned")
        else:
            self.election.cancel()


def main():
    servers, path, name, timeout_ms, recipe = sys.argv[1:6]
    candidate = Candidate(servers, path, name, int(timeout_ms), recipe)
    say("ready")
    for line in sys.stdin:
        if line == "join\n":
            candidate.join()
        elif line == "leave\n":
            candidate.leave()
    candidate.client.stop()


main()
