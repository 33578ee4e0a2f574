"""Contends with kazoo's Election. As its documentation asks, a listener stops the leader when the connection is SUSPENDED or
LOST. Asks every millisecond whether it leads and writes each change to standard output: "leads NANOSECONDS" with the first
time of leadership, "led NANOSECONDS" with the last. Ends when its standard input does.

Arguments: servers, path, id, session timeout in milliseconds.
"""

import os
import sys
import threading
import time

from kazoo.client import KazooClient, KazooState
from kazoo.exceptions import KazooException


class Contender:
    def __init__(self, servers, path, name, session_ms):
        self.in_office = False
        self.stop = threading.Event()
        self.client = KazooClient(hosts=servers, timeout=session_ms / 1000)
        self.client.add_listener(self.connection_changed)
        self.client.start(timeout=60)
        self.election = self.client.Election(path, name)

    def leads(self):
        return self.in_office and not self.stop.is_set()

    def connection_changed(self, state):
        if state != KazooState.CONNECTED:
            self.stop.set()

    def lead(self):
        self.stop.clear()
        # The connection may have been lost before the event was cleared.
        if self.client.state == KazooState.CONNECTED:
            self.in_office = True
            self.stop.wait()
            self.in_office = False

    def contend(self):
        while True:
            try:
                self.election.run(self.lead)
            except KazooException as error:
                print(f"contends again after {error!r}", file=sys.stderr, flush=True)
                time.sleep(1)


def watch(contender):
    led, last = False, 0
    while True:
        before = time.monotonic_ns()
        leads = contender.leads()
        after = time.monotonic_ns()
        if leads != led:
            print(f"leads {after}" if leads else f"led {last}", flush=True)
        if leads:
            last = before
        led = leads
        time.sleep(0.001)


def main():
    servers, path, name, session_ms = sys.argv[1:]
    contender = Contender(servers, path, name, int(session_ms))
    for task in (contender.contend, lambda: watch(contender)):
        threading.Thread(target=task, daemon=True).start()
    sys.stdin.read()
    os._exit(0)


main()
