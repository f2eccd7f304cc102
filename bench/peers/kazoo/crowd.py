"""A crowd of kazoo's elections in one process; ../README.md has the lines.

crowd.py SERVERS PATH COUNT SESSION_TIMEOUT_MS one|many
"""

import json
import logging
import queue
import sys
import threading
import time

from kazoo.client import KazooClient
from kazoo.recipe.election import Election

logging.basicConfig(level=logging.CRITICAL)

saying = threading.Lock()


def say(event, **fields):
    with saying:
        print(json.dumps({"event": event, **fields}), flush=True)


def now():
    return time.monotonic_ns() / 1e6


def opened(servers, timeout_ms):
    client = KazooClient(hosts=servers, timeout=timeout_ms / 1000)
    client.start(timeout=60)
    return client


def main():
    servers, path, count, timeout_ms, mode = sys.argv[1:6]
    count = int(count)
    several = 1 if mode == "many" else count
    clients = [opened(servers, int(timeout_ms)) for _ in range(several)]
    leaders = queue.Queue()

    def campaign(index):
        def lead():
            over = threading.Event()
            say("led", at=now(), id=str(index))
            leaders.put((index, over))
            over.wait()

        place = f"{path}/{index}" if mode == "many" else path
        Election(clients[index % several], place, str(index)).run(lead)

    say("ready")
    for line in sys.stdin:
        if line == "join\n":
            for index in range(count):
                threading.Thread(target=campaign, args=(index,), daemon=True).start()
        elif line == "leave\n":
            index, over = leaders.get()
            say("lost", at=now(), id=str(index), why="resigned")
            over.set()
    for client in clients:
        client.stop()


main()
