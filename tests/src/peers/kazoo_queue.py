"""Keeps a queue of kazoo's Elections, each on a client of its own. For each line of standard input the function of the leader
returns. Writes "handed NANOSECONDS" once the function of another is called, with the time between; the one that returned
contends again. Writes "led" when the first leads. Ends when its standard input does.

Arguments: servers, path, number of contenders, session timeout in milliseconds.
"""

import os
import queue
import sys
import threading
import time

from kazoo.client import KazooClient

resign = queue.SimpleQueue()
ends = queue.SimpleQueue()
beginnings = queue.SimpleQueue()


def lead():
    beginnings.put(time.monotonic_ns())
    resign.get()
    ends.put(time.monotonic_ns())


def contend(election):
    while True:
        election.run(lead)


def main():
    servers, path, count, session_ms = sys.argv[1:]
    for index in range(int(count)):
        client = KazooClient(hosts=servers, timeout=int(session_ms) / 1000)
        client.start(timeout=60)
        election = client.Election(path, f"contender-{index}")
        threading.Thread(target=contend, args=(election,), daemon=True).start()
    beginnings.get()
    print("led", flush=True)
    for _ in sys.stdin:
        resign.put(None)
        print(f"handed {beginnings.get() - ends.get()}", flush=True)
    os._exit(0)


main()
