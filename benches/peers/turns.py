"""The turns that every system is given, and the embedder that the peers share."""

import random
import re
import zlib
from dataclasses import dataclass
from functools import lru_cache

import numpy

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


def _vocabulary():
    made = random.Random(7)
    starts, ends = "b br d f g gr h k l m n p pl r s st t tr v w".split(), "a e i o u ai ou".split()
    word = lambda: "".join(made.choice(starts) + made.choice(ends) for _ in range(made.choice((2, 2, 3))))
    return sorted({word() for _ in range(2_000)})


VOCABULARY = _vocabulary()


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
    said = " ".join(chosen.choices(VOCABULARY, k=14))
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
