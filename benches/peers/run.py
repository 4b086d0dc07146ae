#!/usr/bin/env python3
"""Muninn and its peers side by side, in one run: turns a second, latency, processor time, memory, and whether anything was lost.

    python3 -m venv ~/.cache/muninn-peers && ~/.cache/muninn-peers/bin/pip install -r benches/peers/requirements.txt
    eval "$(NEO4J_JVM_OPTS= tests/servers/neo4j/neo4j-up --port 0 --data /tmp/neo4j --auth muninn-test --heap 2g \
        --conf server.memory.pagecache.size=512m --conf db.transaction.timeout=30s | sed 's/^/export /')"
    ~/.cache/muninn-peers/bin/python benches/peers/run.py target/release/muninn

The Neo4j is emptied before each cell. `--turns 20000` for the long run.
"""

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path.append(str(HERE.parent))

import muninn
from cell import arguments
from server import server_megabytes, server_seconds

SHAPES = {"1 session": (1, 1), "8 sessions": (8, 8), "32 sessions": (32, 32), "8 writers, 1 session": (1, 8)}
ON_NEO4J = ("muninn", "driver", "driver-without-recall", "langchain", "agent-memory", "mem0")
EMBEDDED = ("muninn embedded", "sqlite")
COLUMNS = ("turns", "a second", "p50 ms", "p99 ms", "CPU ms", "server CPU ms", "MB", "lost", "doubled", "one chain")


def empty():
    """Everything out of the Neo4j, so that each cell begins alike."""
    from stores import neo4j_driver

    with neo4j_driver() as driver, driver.session() as session:
        for kind, drop in (("CONSTRAINTS", "CONSTRAINT"), ("INDEXES WHERE type <> 'LOOKUP'", "INDEX")):
            for name in [row["name"] for row in session.run(f"SHOW {kind.replace(' WHERE', ' YIELD name, type WHERE')}")]:
                session.run(f"DROP {drop} `{name}` IF EXISTS").consume()
        session.run("MATCH ()-[r]->() CALL (r) { DELETE r } IN TRANSACTIONS OF 10000 ROWS").consume()
        session.run("MATCH (n) CALL (n) { DELETE n } IN TRANSACTIONS OF 10000 ROWS").consume()


def peer(name, options, folder):
    """A cell of a peer is a process of its own, which says when it is warm and when it measured."""
    command = [sys.executable, "-W", "ignore", str(HERE / "cell.py"), name, "--folder", str(folder)]
    for option in ("sessions", "writers", "turns", "again", "seconds"):
        command += [f"--{option}", str(getattr(options, option))]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    last = []
    threading.Thread(target=lambda: last.extend(child.stderr.readlines()[-3:]), daemon=True).start()
    # Warming up, measuring and auditing have their time each.
    overdue = threading.Timer(4 * options.seconds + 60, child.kill)
    overdue.start()
    found, before, server = None, server_seconds(), 0.0
    for line in child.stdout:
        said = json.loads(line)
        if said["step"] == "warm":
            before = server_seconds()
        elif said["step"] == "measured":
            server = server_seconds() - before
        found = said
    child.wait()
    overdue.cancel()
    if found is None or "turns" not in found:
        return {"error": "ended, as it took too long" if child.returncode < 0 else (last or ["it said nothing"])[-1].strip()}
    return found | {"server": server}


def own(program, options, folder, on_neo4j):
    desk, done, found = asyncio.run(muninn.measured(program, folder, on_neo4j, options))
    return muninn.audited(muninn.export(program, folder, on_neo4j), desk, done, found)


def cell(program, name, options):
    with tempfile.TemporaryDirectory() as folder:
        try:
            if name != "sqlite" and name != "muninn embedded":
                empty()
            if name.startswith("muninn"):
                return own(program, options, Path(folder), name == "muninn")
            return peer(name, options, folder)
        except (Exception, SystemExit) as error:
            return {"error": f"{type(error).__name__}: {error}"[:300]}


def row(name, found):
    if "turns" not in found or not found["turns"]:
        return [name, found.get("error", "nothing was done")]
    turns = found["turns"]
    each = lambda seconds: f"{1000 * seconds / turns:.1f}"
    return [
        name,
        f"{turns}",
        f"{turns / found['seconds']:.0f}",
        f"{found['p50']:.1f}",
        f"{found['p99']:.1f}",
        each(found["processor"]) + (f" + {each(found['client'])} client" if "client" in found else ""),
        each(found["server"]),
        f"{found['memory']:.0f}",
        f"{found.get('lost', '?')}",
        f"{found.get('doubled', '?')}",
        found.get("chain", "could not be looked at") + (f"; {found['errors']} errors: {found['error']}" if found.get("errors") else ""),
    ]


def table(title, rows):
    print(f"\n{title}\n\n| | {' | '.join(COLUMNS)} |\n|---|{'---:|' * len(COLUMNS)}", flush=True)
    for one in rows:
        print(f"| {' | '.join(one)} |", flush=True)


def synced_write(folder):
    """Milliseconds of the median write of 4 KB that is brought to the disk: the least a synced turn costs."""
    file, took = os.open(Path(folder) / "synced", os.O_CREAT | os.O_WRONLY), []
    for _ in range(200):
        began = time.monotonic()
        os.write(file, b"x" * 4096)
        os.fdatasync(file)
        took.append(time.monotonic() - began)
    os.close(file)
    return 1000 * sorted(took)[100]


def measure(program, names, shape, options):
    options.sessions, options.writers = SHAPES[shape]
    rows = []
    for name in names:
        found = cell(program, name, options)
        print(json.dumps({"shape": shape, "name": name, **found}), file=sys.stderr, flush=True)
        rows.append(row(name, found))
    load = os.getloadavg()[0]
    table(f"{shape} (load {load:.1f}; a synced write of 4 KB {synced_write(tempfile.gettempdir()):.1f} ms; server {server_megabytes():.0f} MB)", rows)


def pipe(program, turns, on_neo4j):
    from turns import turn

    said = [turn("pipe", number) for number in range(turns)]
    with tempfile.TemporaryDirectory() as folder:
        if on_neo4j:
            empty()
        seconds = muninn.piped(program, Path(folder), on_neo4j, said, turns // 10)
    store = "Neo4j" if on_neo4j else "embedded"
    print(f"\nOver a pipe, one session, {store}: {1 / seconds:.0f} turns a second", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=Path)
    parser.add_argument("--only", nargs="+", help="of " + ", ".join(ON_NEO4J + EMBEDDED))
    parser.add_argument("--shapes", nargs="+", choices=SHAPES, default=list(SHAPES))
    parser.add_argument("--embedded-turns", type=int, default=3000)
    arguments(parser)
    options = parser.parse_args()
    program = options.program.resolve()
    chosen = lambda names: [name for name in names if not options.only or name in options.only]
    # The server compiles what it runs often: nobody should pay for that alone.
    options.sessions = options.writers = 8
    for name in ("driver", "muninn") if chosen(ON_NEO4J) else ():
        cell(program, name, options)
    began, turns = time.monotonic(), options.turns
    for shape in options.shapes:
        options.turns = turns
        if names := chosen(ON_NEO4J):
            measure(program, names, shape, options)
        options.turns = options.embedded_turns
        if names := chosen(EMBEDDED):
            measure(program, names, shape, options)
    if "muninn" in chosen(ON_NEO4J):
        pipe(program, turns, True)
    if "muninn embedded" in chosen(EMBEDDED):
        pipe(program, turns, False)
    print(f"\n{(time.monotonic() - began) / 60:.0f} min, load {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
