#!/usr/bin/env python3
"""Writes rows for figures: make_rows.py COUNT [CHARS] > rows.jsonl. Each is a chunk, or as many as
its characters make; every hundredth is above the next ninety-nine."""

import json
import random
import sys

dice = random.Random(1)
words = open(__file__.replace("make_rows.py", "catalog.jsonl"), encoding="utf-8").read()
words = sorted({word for word in words.replace('"', " ").split() if word.isalpha()})
count, chars = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 700
for n in range(count):
    text = f"Row {n}."
    while len(text) < chars:
        text += " " + " ".join(dice.choices(words, k=12)) + "."
    print(json.dumps({"n": n, "about": text, "above": [n - n % 100] if n % 100 else []}))
