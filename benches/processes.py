#!/usr/bin/env python3
"""Several Muninn processes on one Neo4j: turns a second, latency, memory, and what a kill costs.

    cargo build --release
    eval "$(tests/servers/neo4j/neo4j-up --port 0 --data /tmp/neo4j --auth muninn-test)"
    benches/processes.py target/release/muninn --processes 1 2 4

People write over the signed webhook, as a load balancer would spread them; there is no model, so a turn is the window, recall, the
turn's commit and the answer. A desk here takes the answers, and counts every message that is answered twice or not at all.
Needs Python 3.9 and nothing else.
"""

import argparse
import http.client
import json
import os
import queue
import signal
import tempfile
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from support import Bot, quantile, signature

WORDS = "printer kettle lease garden invoice harbour ladder museum violin ticket".split()


class Desk:
    """Takes answers."""

    def __init__(self):
        self.answered = {}
        self.twice = 0
        self.changed = threading.Condition()
        desk = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                if body.get("action") == "put":
                    desk.take(body)
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        # A process that is killed leaves its connections.
        self.server.handle_error = lambda *_: None
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/"

    def take(self, body):
        key = (body["channel"], body["question"])
        with self.changed:
            if key in self.answered and self.answered[key][1] != body["text"]:
                self.twice += 1
            self.answered.setdefault(key, (time.monotonic(), body["text"]))
            self.changed.notify_all()

    def wait(self, keys, seconds):
        """Those that are not answered in time."""
        until = time.monotonic() + seconds
        missing = set(keys)
        with self.changed:
            while True:
                missing = {key for key in missing if key not in self.answered}
                if not missing or time.monotonic() > until:
                    return missing
                self.changed.wait(0.2)


class Person:
    """Sends over one connection to one process at a time."""

    def __init__(self):
        self.connections = {}

    def send(self, port, body):
        body = json.dumps(body)
        while True:
            headers = {"Muninn-Signature": signature(body)}
            connection = self.connections.setdefault(port, http.client.HTTPConnection("127.0.0.1", port, timeout=60))
            try:
                connection.request("POST", "/messages", body, headers)
                response = connection.getresponse()
                response.read()
            except OSError:
                self.connections.pop(port)
                return False
            if response.status != 503:
                assert response.status == 202, response.status
                return True
            time.sleep(0.05)


def question(run, number, conversations, text=None):
    conversation = number % conversations
    word = WORDS[number % len(WORDS)]
    return {
        "id": f"{run}-{number}",
        "channel": f"{run}-c{conversation % 50}",
        "conversation": f"k{conversation}",
        "author": {"id": f"p{conversation}", "name": f"P{conversation}"},
        "text": text or f"The {word} of room {number} is at place {number * 7 % 1000}, and the {WORDS[number * 3 % 10]} beside it.",
    }


def key(body):
    return (body["channel"], body["id"])


def load(bots, desk, bodies, at_once, later=None):
    """Sends all, each conversation's one after the other; gives the seconds that each took."""
    lanes = {}
    for number, body in enumerate(bodies):
        lanes.setdefault((body["channel"], body["conversation"]), []).append((number, body))
    work = queue.Queue()
    for lane in lanes.values():
        work.put(lane)
    took = []

    def person():
        sender = Person()
        while True:
            try:
                lane = work.get_nowait()
            except queue.Empty:
                return
            for number, body in lane:
                began = time.monotonic()
                sender.send(bots[number % len(bots)].port, body)
                if desk.wait([key(body)], 120):
                    print(f"NOT ANSWERED {body['id']}")
                    continue
                took.append(desk.answered[key(body)][0] - began)

    threads = [threading.Thread(target=person) for _ in range(at_once)]
    began = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return took, time.monotonic() - began


def measure(program, count, questions, conversations, at_once):
    run = f"bench{os.getpid()}x{count}x{int(time.time())}"
    desk = Desk()
    with tempfile.TemporaryDirectory() as folder:
        bots = [Bot(program, desk.url, Path(folder) / str(number)) for number in range(count)]
        started = max(bot.ready() for bot in bots)
        bodies = [question(run, number, conversations) for number in range(questions)]
        load(bots, desk, [question(run + "w", number, conversations) for number in range(200)], at_once)
        before = [bot.usage() for bot in bots]
        took, seconds = load(bots, desk, bodies, at_once)
        after = [bot.usage() for bot in bots]
        processor = sum(now[0] - was[0] for now, was in zip(after, before))
        print(
            f"{count} processes: start {started:.2f} s; {len(took)} of {questions} answered, {desk.twice} twice; "
            f"{len(took) / seconds:.0f} turns a second; p50 {quantile(took, 0.5):.0f}, p99 {quantile(took, 0.99):.0f} ms; "
            f"processor {1000 * processor / len(took):.1f} ms a turn; "
            f"memory {max(now[1] for now in after):.0f} MB at most",
            flush=True,
        )
        if count > 1:
            kill(bots, desk, run, at_once)
        for bot in bots[1:] if count > 1 else bots:
            bot.end()


def kill(bots, desk, run, at_once):
    """A burst to one process, which is killed as soon as it has taken it: the others answer what it had accepted."""
    bodies = [question(run + "k", number, 200) for number in range(200)]
    accepted = []
    work = queue.Queue()
    for body in bodies:
        work.put(body)

    def person():
        sender = Person()
        while True:
            try:
                body = work.get_nowait()
            except queue.Empty:
                return
            if sender.send(bots[0].port, body):
                accepted.append(key(body))

    threads = [threading.Thread(target=person) for _ in range(at_once)]
    for thread in threads:
        thread.start()
    while len(accepted) < 100:
        time.sleep(0.001)
    bots[0].end(signal.SIGKILL)
    killed = time.monotonic()
    for thread in threads:
        thread.join()
    missing = desk.wait(accepted, 120)
    last = max(desk.answered[it][0] for it in accepted if it in desk.answered)
    late = [it for it in accepted if it in desk.answered and desk.answered[it][0] > killed]
    print(
        f"  one is killed: {len(accepted)} accepted, {len(late)} of them answered by the others, the last {last - killed:.1f} s after; "
        f"{len(missing)} lost, {desk.twice} twice",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=Path)
    parser.add_argument("--processes", type=int, nargs="+", default=[1, 2, 4])
    parser.add_argument("--questions", type=int, default=3000)
    parser.add_argument("--conversations", type=int, default=200)
    parser.add_argument("--at-once", type=int, default=32)
    options = parser.parse_args()
    for count in options.processes:
        measure(options.program.resolve(), count, options.questions, options.conversations, options.at_once)


if __name__ == "__main__":
    main()
