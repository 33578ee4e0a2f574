"""Asks an engine the questions from several processes, and prints the answer times in microseconds."""

import multiprocessing
import os
import sys
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
    print(version, round((time.perf_counter() - begun) * 1e6), flush=True)
    with open(sys.argv[3], encoding="utf-8") as file:
        questions = file.read().splitlines()
    asked = multiprocessing.Value("l", 0)
    for load in sys.argv[4:]:
        clients, seconds = map(int, load.split(":"))
        print(*times(clients, seconds, questions, asked, connect), flush=True)


def times(clients, seconds, questions, asked, connect):
    # The clients are processes, because threads of Python take turns.
    ready, answers = multiprocessing.Barrier(clients), multiprocessing.Queue()

    def client():
        ask, times = connect(sys.argv[2]), []
        ready.wait()
        end = time.perf_counter() + seconds
        while time.perf_counter() < end:
            with asked.get_lock():
                number, asked.value = asked.value, asked.value + 1
            words = questions[number % len(questions)].split()
            begun = time.perf_counter()
            ask(words)
            times.append(round((time.perf_counter() - begun) * 1e6))
        answers.put(times)

    processes = [multiprocessing.Process(target=client) for _ in range(clients)]
    for process in processes:
        process.start()
    result = [time for _ in processes for time in answers.get()]
    for process in processes:
        process.join()
    return result
