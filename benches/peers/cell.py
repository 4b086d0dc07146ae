"""One peer in one shape, in a process of its own: drives the turns, and says what it measured.

    python cell.py driver --folder /tmp/cell --sessions 8 --writers 8 --turns 1000
"""

import argparse
import asyncio
import inspect
import json
import logging
import os
import resource
import sys
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

sys.path.append(str(Path(__file__).parent.parent))

from chains import kept
from support import quantile, usage_of
from turns import turn


@dataclass
class Done:
    """What the writers saw."""

    acknowledged: list = field(default_factory=list)
    took: list = field(default_factory=list)
    errors: list = field(default_factory=list)


def lanes(name, sessions, writers, turns):
    """What each writer says, one after the other."""
    each = [[] for _ in range(writers)]
    for number in range(turns):
        writer = number % writers
        each[writer].append(turn(f"{name}s{writer % sessions}", number))
    return each


def is_repeated(turn, again):
    """Whether this one is told twice, as platforms do when an acknowledgement comes late."""
    return bool(again) and turn.number % again == again - 1


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_SELF)
    return used.ru_utime + used.ru_stime


class Noted:
    """Times what is done within it, and keeps whether that went well."""

    def __init__(self, done, one):
        self.done, self.one, self.began = done, one, time.monotonic()

    def __enter__(self):
        return self

    def __exit__(self, _kind, error, _trace):
        self.is_well = error is None
        if self.is_well:
            self.done.took.append(time.monotonic() - self.began)
            self.done.acknowledged.append(self.one.event)
        else:
            self.done.errors.append(f"{type(error).__name__}: {error}"[:200])
        return isinstance(error, Exception)


def in_time(lane, until):
    for one in lane:
        if time.monotonic() > until:
            return
        yield one


async def in_threads(peer, each, again, until):
    done = Done()

    def writer(lane):
        for one in in_time(lane, until):
            with Noted(done, one) as noted:
                peer.turn(one)
            if noted.is_well and is_repeated(one, again):
                peer.turn(one)

    threads = [threading.Thread(target=writer, args=(lane,), daemon=True) for lane in each]
    for thread in threads:
        thread.start()
    # Nothing else runs in this thread.
    for thread in threads:
        thread.join()
    return done


async def in_tasks(peer, each, again, until):
    done = Done()

    async def writer(lane):
        for one in in_time(lane, until):
            with Noted(done, one) as noted:
                await peer.turn(one)
            if noted.is_well and is_repeated(one, again):
                await peer.turn(one)

    await asyncio.gather(*(writer(lane) for lane in each))
    return done


def figures(done, seconds, processor, memory):
    return {
        "turns": len(done.took),
        "seconds": seconds,
        "p50": quantile(done.took, 0.5),
        "p99": quantile(done.took, 0.99),
        "processor": processor,
        "memory": memory,
        "errors": len(done.errors),
        "error": done.errors[0] if done.errors else "",
    }


def audited(peer, done, found):
    """Told apart from the figures, since a broken chain can be too large to look at."""
    stored, chained = peer.audit()
    found["lost"], found["doubled"] = kept(done.acknowledged, stored)
    found["chain"] = chained
    return found


def say(step, found):
    print(json.dumps({"step": step, **found}), flush=True)


async def run(peer, options):
    drive = in_threads
    if inspect.iscoroutinefunction(peer.turn):
        drive = in_tasks
        await peer.open()
    warm, each = plan(options)
    await drive(peer, warm, 0, time.monotonic() + options.seconds)
    say("warm", {})
    before, began = processor_seconds(), time.monotonic()
    done = await drive(peer, each, options.again, began + options.seconds)
    return done, time.monotonic() - began, processor_seconds() - before


def plan(options):
    warm = lanes("w", options.sessions, options.writers, max(2 * options.writers, options.turns // 10))
    return warm, lanes("m", options.sessions, options.writers, options.turns)


def arguments(parser):
    parser.add_argument("--sessions", type=int, default=1)
    parser.add_argument("--writers", type=int, default=1)
    parser.add_argument("--turns", type=int, default=800)
    parser.add_argument("--again", type=int, default=100)
    parser.add_argument("--seconds", type=float, default=40)


def main():
    from stores import PEERS

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("peer", choices=PEERS)
    parser.add_argument("--folder", type=Path, required=True)
    arguments(parser)
    options = parser.parse_args()
    logging.getLogger("neo4j").setLevel(logging.ERROR)
    peer = PEERS[options.peer](options.folder)
    done, seconds, processor = asyncio.run(run(peer, options))
    found = figures(done, seconds, processor, usage_of("self")[1])
    say("measured", found)
    say("audited", audited(peer, done, found))
    # Threads of a driver need not be waited for.
    sys.stdout.flush()
    os._exit(0)


if __name__ == "__main__":
    main()
