"""The turns that every system is given, and the embedder that the peers share."""

import random
import re
import zlib
from dataclasses import dataclass
from functools import lru_cache

import numpy

from support import PLACES, THINGS

DIMENSION = 256
"""Of Muninn's built-in embedder, and so of the peers'."""

WINDOW = 12
"""Latest turns that are read; Muninn's default."""

RECALLED = 12
"""Earlier turns that are looked for."""

ANSWER = (
    "The plan says that this was looked at last week, and that whoever has the key of the cellar can tell more about it. "
    "Ask at the front desk, or look into the folder of the second floor."
)


PEOPLE = "Ada Bruno Chiara Dmitri Elif Farid Greta Hiro Ines Jonas Kofi Lucia Marek Nadia Oskar Priya Quinn Rosa Sven Tomas".split()
DOINGS = "repaired moved ordered inspected borrowed cleaned replaced measured sold painted insured unpacked".split()


@dataclass(frozen=True)
class Turn:
    """One message of a session."""

    session: str
    number: int
    event: str
    question: str


def turn(session, number):
    """The text has the event's name, so that what was kept can be counted in any store."""
    event = f"{session}n{number}"
    chosen = random.Random(event)
    one, other = chosen.sample(THINGS, 2)
    said = (
        f"{chosen.choice(PEOPLE)} {chosen.choice(DOINGS)} the {one} in the {chosen.choice(PLACES)} of house {chosen.randrange(40)}, "
        f"and the {other} is due on day {chosen.randrange(365)}"
    )
    return Turn(session, number, event, f"About {event}: {said}.")


EVENT = re.compile(r"About (\w+):")


def event_of(text):
    """Which event a stored text belongs to, or None."""
    found = EVENT.match(text or "")
    return found and found.group(1)


@lru_cache(maxsize=None)
def _row(word):
    return numpy.random.default_rng(zlib.crc32(word.encode())).standard_normal(DIMENSION, dtype=numpy.float32)


def embed(text):
    """The mean of a row for each word, as Muninn's embedder makes it of word pieces: no network runs in either."""
    rows = [_row(word) for word in re.findall(r"\w+", text.lower())]
    sum_of_rows = numpy.sum(rows, axis=0) if rows else numpy.ones(DIMENSION, dtype=numpy.float32)
    return sum_of_rows / numpy.linalg.norm(sum_of_rows)
