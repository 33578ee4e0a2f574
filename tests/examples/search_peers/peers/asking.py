"""Asks an engine the questions from several threads, and prints the answer times in microseconds."""

import itertools
import os
import sys
import threading
import time


def documents():
    """Paths and texts of the documents."""
    for folder, _, names in os.walk(sys.argv[1]):
        for name in names:
            path = os.path.join(folder, name)
            with open(path, encoding="utf-8") as file:
                yield path, file.read()


def run(version, index, connect):
    """Runs index(folder), then asks with functions that connect(folder) makes, one for each client."""
    begun = time.perf_counter()
    index(sys.argv[2])
    print(version, round((time.perf_counter() - begun) * 1e6))
    with open(sys.argv[3], encoding="utf-8") as file:
        questions = itertools.cycle(file.read().splitlines())
    for load in sys.argv[4:]:
        clients, seconds = map(int, load.split(":"))
        print(*asked(clients, seconds, questions, connect))


def asked(clients, seconds, questions, connect):
    times = []
    end = time.perf_counter() + seconds

    def client():
        ask = connect(sys.argv[2])
        while time.perf_counter() < end:
            question = next(questions)
            begun = time.perf_counter()
            ask(question.split())
            times.append(round((time.perf_counter() - begun) * 1e6))

    threads = [threading.Thread(target=client) for _ in range(clients)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return times
