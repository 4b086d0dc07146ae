"""Muninn itself, over its signed webhook: what goes in and what comes out is HTTP, and there is no model.

The client and the desk that takes answers are one event loop in this process, since they have the same two cores as Muninn.
"""

import asyncio
import json
import subprocess
import time
from datetime import datetime

from cell import Done, figures, is_repeated, plan, processor_seconds
from chains import chain, kept
from server import server_seconds
from support import Bot, settings, signature
from turns import event_of


class Http(asyncio.Protocol):
    """As much of HTTP/1.1 as both sides need: a head, and a body of a known length."""

    def __init__(self, take):
        self.take, self.buffer = take, b""

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.buffer += data
        while True:
            head, found, rest = self.buffer.partition(b"\r\n\r\n")
            if not found:
                return
            lines = head.decode("latin-1").split("\r\n")
            lengths = [line.split(":")[1] for line in lines if line.lower().startswith("content-length:")]
            length = int(lengths[0]) if lengths else 0
            if len(rest) < length:
                return
            self.buffer = rest[length:]
            self.take(self, lines[0], rest[:length])


class Desk:
    """Takes answers; a second one with other words counts as told twice."""

    def __init__(self):
        self.waiting, self.answers, self.twice = {}, {}, 0

    async def open(self):
        loop = asyncio.get_running_loop()
        self.server = await loop.create_server(lambda: Http(self.take), "127.0.0.1", 0)
        return f"http://127.0.0.1:{self.server.sockets[0].getsockname()[1]}/"

    def take(self, connection, _line, body):
        connection.transport.write(b"HTTP/1.1 204 No Content\r\n\r\n")
        answer = json.loads(body)
        if answer.get("action") != "put":
            return
        event = answer["question"]
        self.twice += self.answers.get(event, answer["text"]) != answer["text"]
        self.answers[event] = answer["text"]
        waiting = self.waiting.pop(event, None)
        if waiting and not waiting.done():
            waiting.set_result(time.monotonic())


class Writer:
    """One person, over one connection."""

    def __init__(self, port, desk, name):
        self.port, self.desk, self.name = port, desk, name

    async def open(self):
        loop = asyncio.get_running_loop()
        self.replies = asyncio.Queue()
        take = lambda _connection, line, body: self.replies.put_nowait((int(line.split()[1]), body))
        self.transport, _ = await loop.create_connection(lambda: Http(take), "127.0.0.1", self.port)

    def post(self, turn, padding=""):
        body = json.dumps(
            {
                "id": turn.event,
                "channel": turn.session,
                "conversation": "main",
                "author": {"id": self.name, "name": self.name},
                "text": turn.question,
            }
        )
        # A signature is taken once, so what is told twice is not the same bytes.
        body += padding
        head = f"POST /messages HTTP/1.1\r\nHost: localhost\r\nMuninn-Signature: {signature(body)}\r\nContent-Length: {len(body)}\r\n\r\n"
        self.transport.write((head + body).encode())

    async def send(self, turn, padding=""):
        while True:
            self.post(turn, padding)
            status, body = await self.replies.get()
            if status == 202:
                return
            if status != 503:
                raise RuntimeError(f"{status}: {body[:200]}")
            await asyncio.sleep(0.05)

    async def turn(self, turn):
        """The seconds until it was answered."""
        answered = asyncio.get_running_loop().create_future()
        self.desk.waiting[turn.event] = answered
        began = time.monotonic()
        await self.send(turn)
        return await asyncio.wait_for(answered, 120) - began


async def drive(port, desk, each, again, until):
    done = Done()

    async def write(number, lane):
        writer = Writer(port, desk, f"p{number}")
        await writer.open()
        for turn in lane:
            if time.monotonic() > until:
                break
            try:
                done.took.append(await writer.turn(turn))
                done.acknowledged.append(turn.event)
                if is_repeated(turn, again):
                    await writer.send(turn, " ")
            except Exception as error:
                done.errors.append(f"{type(error).__name__}: {error}"[:200])
        writer.transport.close()

    await asyncio.gather(*(write(number, lane) for number, lane in enumerate(each)))
    return done


async def measured(program, folder, on_neo4j, options):
    """What a cell of a peer tells, and the processor time of the client beside it."""
    desk = Desk()
    bot = Bot(program, await desk.open(), folder, on_neo4j)
    try:
        bot.ready()
        warm, each = plan(options)
        await drive(bot.port, desk, warm, 0, time.monotonic() + options.seconds)
        before, client, server, began = bot.usage()[0], processor_seconds(), server_seconds(), time.monotonic()
        done = await drive(bot.port, desk, each, options.again, began + options.seconds)
        seconds = time.monotonic() - began
        used, memory = bot.usage()
        found = figures(done, seconds, used - before, memory)
        found["client"] = processor_seconds() - client
        found["server"] = server_seconds() - server if on_neo4j else 0.0
    finally:
        bot.end()
    return desk, done, found


def export(program, folder, on_neo4j):
    file = folder / "export.jsonl"
    environment = settings(folder, on_neo4j)
    subprocess.run([program, "export", str(file)], env=environment, check=True, capture_output=True)
    return (json.loads(line) for line in file.open())


def audited(exported, desk, done, found):
    """From an export, which is the same for both stores."""
    events, members, lasts, links = [], [], [], []
    for one in exported:
        if node := one.get("node"):
            if "Response" in node["labels"]:
                events.append(event_of(node["properties"].get("input")))
        elif edge := one.get("relationship"):
            kinds = {"HAS_RESPONSE": members, "LAST_RESPONSE": lasts, "NEXT": links}
            if edge["type"] in kinds:
                kinds[edge["type"]].append((edge["from"], edge["to"]))
    found["lost"], found["doubled"] = kept(done.acknowledged, events)
    found["doubled"] += desk.twice
    found["chain"] = chain(lasts, links, members)
    return found


def piped(program, folder, on_neo4j, turns, first):
    """Lines into `muninn chat`, one session: the seconds of a turn after the first ones, by when each was kept."""
    environment = settings(folder, on_neo4j)
    lines = "".join(f"{turn.question}\n" for turn in turns)
    subprocess.run([program, "chat"], env=environment, cwd=folder, input=lines, text=True, check=True, capture_output=True)
    nodes = (one.get("node") for one in export(program, folder, on_neo4j))
    kept_at = sorted(node["properties"]["createdAt"]["$datetime"] for node in nodes if node and "Response" in node["labels"])
    after = [datetime.fromisoformat(at[:26] + "+00:00") for at in kept_at[first:]]
    return (after[-1] - after[0]).total_seconds() / (len(after) - 1)
