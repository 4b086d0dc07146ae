#!/usr/bin/env python3
"""What a turn, a start and forgetting cost with 1,000 to 1,000,000 turns behind them, on both stores.

    cargo build --release
    eval "$(NEO4J_JVM_OPTS= tests/servers/neo4j/neo4j-up --port 0 --data /tmp/neo4j --auth muninn-test --heap 2g \
        --conf server.memory.pagecache.size=512m | sed 's/^/export /')"
    benches/size.py target/release/muninn --store neo4j --turns 1000 10000 100000 1000000
    benches/size.py target/release/muninn --store embedded --turns 1000 10000 100000

Turns are spread over up to 10,000 conversations, ten of which share a channel. They are written as an export, imported, and then asked of
over the signed webhook, one question at a time; there is no model. What is in the Neo4j is replaced.
Needs Python 3.9 and nothing else.
"""

import argparse
import json
import os
import random
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from processes import Desk, Person, key
from support import PLACES, THINGS, Bot, quantile, settings

CONVERSATIONS = 10_000
OF_A_CHANNEL = 10
RECALLED = 2
"""Relationships to earlier turns of the same channel, for each turn."""
CHANNELS_ASKED, ASKED_EACH, FORGOTTEN = 30, 10, 5
EMBEDDER = "local/static-minilm-wn-256-int8"


def sentence(number):
    chosen = random.Random(number)
    one, other = chosen.sample(THINGS, 2)
    place, house, day = chosen.choice(PLACES), chosen.randrange(40), chosen.randrange(365)
    return f"The {one} in the {place} of house {house} was repaired, and the {other} there is due on day {day}."


def vectors(count=500):
    """As JSON, made once: what they say is of no matter to what they cost."""
    made = random.Random(1)
    return [json.dumps([round(made.gauss(0, 0.0625), 3) for _ in range(256)]) for _ in range(count)]


def moment(number, turns):
    """Within the last year, in order."""
    at = time.time() - 31_000_000 * (1 - number / turns) - 86_400
    return {"$datetime": time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(at)) + f".{number % 1_000_000:06}000+00:00"}


class Layout:
    """Which turn is where."""

    def __init__(self, turns):
        self.turns = turns
        self.conversations = max(1, min(CONVERSATIONS, turns // 10))
        self.channels = -(-self.conversations // OF_A_CHANNEL)

    def channel(self, conversation):
        return f"c{conversation // OF_A_CHANNEL}"


def nodes(layout):
    """Lines of the export: channels, conversations, turns."""
    last = moment(layout.turns - 1, layout.turns)
    positions = [0] * layout.channels
    for conversation in range(layout.conversations):
        turns = len(range(conversation, layout.turns, layout.conversations))
        positions[conversation // OF_A_CHANNEL] += turns
    for channel, position in enumerate(positions):
        properties = {"id": f"webhook/c{channel}", "platform": "webhook", "workspace": "", "name": f"c{channel}"}
        yield node(f"c{channel}", "Channel", properties | {"position": position, "epoch": 0})
    for conversation in range(layout.conversations):
        properties = {"id": f"webhook/{layout.channel(conversation)}/k{conversation}", "title": sentence(conversation)[:60]}
        yield node(f"s{conversation}", "Session", properties | {"createdAt": last, "updatedAt": last, "lastAt": last})
    yield from responses(layout)


def node(name, label, properties):
    return json.dumps({"node": {"id": name, "labels": [label], "properties": properties}}) + "\n"


def responses(layout):
    pool, position = vectors(), [0] * layout.channels
    for number in range(layout.turns):
        conversation = number % layout.conversations
        channel = conversation // OF_A_CHANNEL
        position[channel] += 1
        properties = {
            "id": f"00000000-0000-7000-8000-{number:012}",
            "eventId": f"webhook/c{channel}/e{number}",
            "audience": f"webhook/c{channel}",
            "session": f"webhook/c{channel}/k{conversation}",
            "author": f"webhook/p{conversation}",
            "authorName": f"P{conversation}",
            "createdAt": moment(number, layout.turns),
            "position": position[channel],
            "input": sentence(number),
            "output": f"Noted. {sentence(number + 1)}",
            "embedder": EMBEDDER,
            "source": "memory",
            "trust": "talk",
            "volatile": False,
            "delivered": "[]",
            "durationMs": 5,
            "promptTokens": 0,
            "completionTokens": 0,
            "cachedTokens": 0,
            "costMicros": 0,
        }
        line = node(f"r{number}", "Response", properties)
        # The vector goes in as text, since it is two thirds of the line.
        yield line.replace('"properties": {', f'"properties": {{"embedding": {pool[number % len(pool)]}, ', 1)


def relationships(layout):
    many = layout.conversations
    for conversation in range(many):
        yield tie("IN", f"s{conversation}", f"c{conversation // OF_A_CHANNEL}")
        last = conversation + (layout.turns - 1 - conversation) // many * many
        yield tie("LAST_RESPONSE", f"s{conversation}", f"r{last}")
    for number in range(layout.turns):
        yield tie("HAS_RESPONSE", f"s{number % many}", f"r{number}")
        if number >= many:
            yield tie("NEXT", f"r{number - many}", f"r{number}")
        # Earlier ones of the same conversation and so of the same channel.
        for back in range(1, RECALLED + 1):
            if number >= back * many:
                yield tie("RECALLED", f"r{number}", f"r{number - back * many}", {"score": 0.5})


def tie(kind, begin, end, properties=None):
    return json.dumps({"relationship": {"type": kind, "from": begin, "to": end, "properties": properties or {}}}) + "\n"


def write_export(file, layout):
    """The counts are at its head, so the lines are counted first."""
    ties = sum(1 for _ in relationships(layout))
    things = layout.channels + layout.conversations + layout.turns
    counts = {"nodes": things, "relationships": ties}
    with file.open("w") as out:
        out.write(json.dumps({"muninn": {"format": 1, "schema": 1, **counts}}) + "\n")
        out.writelines(nodes(layout))
        out.writelines(relationships(layout))
        out.write(json.dumps({"end": counts}) + "\n")


def imported(program, folder, store, file, limit):
    """Seconds of wall time, of the processor, and megabytes at most; None if it was not done in time."""
    began = time.monotonic()
    importing = subprocess.Popen(
        [program, "import", "--replace", str(file)], env=settings(folder, store == "neo4j"), cwd=folder, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL
    )
    overdue = threading.Timer(limit, importing.kill)
    overdue.start()
    _, status, used = os.wait4(importing.pid, 0)
    importing.returncode = os.waitstatus_to_exitcode(status)
    overdue.cancel()
    if importing.returncode < 0:
        return None
    if importing.returncode:
        raise SystemExit(f"the import failed with {importing.returncode}")
    return time.monotonic() - began, used.ru_utime + used.ru_stime, used.ru_maxrss / 1024


class Asker:
    """Asks, and waits for each answer."""

    def __init__(self, bot, desk, layout):
        self.bot, self.desk, self.layout = bot, desk, layout
        self.person, self.number = Person(), 0

    def ask(self, conversation, text):
        """The seconds until it was answered."""
        self.number += 1
        body = {
            # A claim of an earlier size is kept for an hour, so an id is used once.
            "id": f"q{os.getpid()}-{self.layout.turns}-{self.number}",
            "channel": self.layout.channel(conversation),
            "conversation": f"k{conversation}",
            "author": {"id": f"p{conversation}", "name": f"P{conversation}"},
            "text": text,
        }
        began = time.monotonic()
        self.person.send(self.bot.port, body)
        if self.desk.wait([key(body)], 300):
            raise SystemExit(f"not answered: {body}")
        return self.desk.answered[key(body)][0] - began


def measure(program, store, turns, limit, folder):
    layout, file = Layout(turns), folder / "export.jsonl"
    write_export(file, layout)
    size = file.stat().st_size / 1e6
    took = imported(program, folder, store, file, limit)
    file.unlink()
    if took is None:
        return f"| {turns:,} | not imported after {limit} s |"
    desk = Desk()
    bot = Bot(program, desk.url, folder, store == "neo4j")
    bot.ready()
    asker = Asker(bot, desk, layout)
    asker.ask(0, sentence(1))
    started = time.monotonic() - bot.began
    at_start = bot.usage()[1]
    first, later = asked(asker, layout)
    used, memory = bot.usage()
    forgetting = [asker.ask(0, "/forget last") for _ in range(FORGOTTEN)]
    after = asker.ask(0, sentence(2))
    ended = bot.end()
    stored = sum(file.stat().st_size for file in folder.rglob("graph.kgl*")) / 1e6
    processor = 1000 * used / (len(first) + len(later))
    cells = [
        f"{turns:,}",
        f"{took[0]:.0f} s ({took[1]:.0f} s CPU, {took[2]:.0f} MB, file {size:.0f} MB)",
        f"{started:.2f} s",
        f"{quantile(later, 0.5):.1f}",
        f"{quantile(later, 0.99):.1f}",
        f"{quantile(first, 0.5):.1f}, {quantile(first, 0.99):.1f}",
        f"{processor:.1f}",
        f"{at_start:.0f}, {memory:.0f} MB" + (f", {stored:.0f} MB" if stored else ""),
        f"{quantile(forgetting, 0.5):.0f} ({1000 * after:.0f} ms)",
        f"{ended:.1f} s",
    ]
    return f"| {' | '.join(cells)} |"


def asked(asker, layout):
    """Seconds of the first question in each of some channels, which loads what is recalled there, and of those after it."""
    first, later = [], []
    chosen = random.Random(3).sample(range(1, layout.channels), min(CHANNELS_ASKED, layout.channels - 1))
    each = ASKED_EACH * CHANNELS_ASKED // len(chosen)
    for channel in chosen:
        for number in range(each):
            conversation = channel * OF_A_CHANNEL + number % OF_A_CHANNEL
            took = asker.ask(conversation, sentence(1_000_003 * channel + number))
            (later if number else first).append(took)
    return first, later


HEAD = (
    "| Turns | import | start to first answer | turn p50 (ms) | p99 | first in a channel, p50, p99 | CPU a turn (ms, with the start) "
    "| memory after the start, and after 300 turns; the embedded graph on disk | `forget last` p50 (the turn after it) (ms) | ending |"
)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=Path)
    parser.add_argument("--store", choices=("embedded", "neo4j"), required=True)
    parser.add_argument("--turns", type=int, nargs="+", default=[1_000, 10_000, 100_000])
    parser.add_argument("--limit", type=int, default=1_800, help="seconds that an import may take")
    parser.add_argument("--folder", type=Path, help="where the export and the embedded graph are made; they need 5 KB a turn")
    options = parser.parse_args()
    print(f"{options.store}, load {os.getloadavg()[0]:.1f}\n\n{HEAD}\n|---:|{'---:|' * 9}", flush=True)
    for turns in options.turns:
        with tempfile.TemporaryDirectory(dir=options.folder) as folder:
            print(measure(options.program.resolve(), options.store, turns, options.limit, Path(folder)), flush=True)
    print(f"\nload {os.getloadavg()[0]:.1f}")


if __name__ == "__main__":
    main()
