#!/usr/bin/env python3
"""Which section `muninn search` finds first in documents of public projects, beside SQLite's FTS5 on the same files.

    cargo build --release
    benches/documents/score.py target/release/muninn book=/path/to/book/src handbook=/path/to/handbook …

Each NAME=FOLDER is a set of questions beside this file (README.md tells where the documents come from) and where its documents are. FTS5
has the same files cut at headings and then at paragraphs of up to 1,000 characters, with the title, the heading and the text as columns, stems
(porter), and the words of a question joined by OR. Needs Python 3.9 with SQLite's FTS5, and nothing else.
"""

import argparse
import json
import os
import re
import sqlite3
import subprocess
import tempfile
from pathlib import Path

PLACES = (1, 5, 10)
CHUNK = 1_000
LEAST_ANSWERABILITY = 0.6  # as in knowledge/weights.toml
ANCHOR = re.compile(r"\s*\{\s*#[^{}]*\}$")
HERE = Path(__file__).parent


def sections(text):
    """(heading, body) of a Markdown text; what stands before the first heading has none."""
    found, fence = [("", [])], None
    for line in text.splitlines():
        mark = re.match(r"\s*(`{3,}|~{3,})", line)
        if mark:
            fence = None if fence else mark.group(1)
        if not fence and not mark and re.match(r"#{1,6}\s", line):
            found.append((ANCHOR.sub("", line.strip()).strip("#").strip(), []))
        else:
            found[-1][1].append(line)
    return [(heading, "\n".join(lines)) for heading, lines in found]


def pieces(body):
    piece = ""
    for paragraph in re.split(r"\n\s*\n", body):
        if piece and len(piece) + len(paragraph) > CHUNK:
            yield piece
            piece = ""
        piece = f"{piece}\n\n{paragraph}".strip()
    if piece:
        yield piece


class Fts5:
    def __init__(self, folder):
        self.base = sqlite3.connect(":memory:")
        self.base.execute("CREATE VIRTUAL TABLE chunk USING fts5(file UNINDEXED, title, heading, body, tokenize='porter unicode61')")
        for path in sorted(folder.rglob("*.md")):
            cut = sections(path.read_text(encoding="utf-8"))
            title = next((heading for heading, _ in cut if heading), path.stem)
            for heading, body in cut:
                for piece in pieces(body):
                    row = (str(path.relative_to(folder)), title, heading, piece)
                    self.base.execute("INSERT INTO chunk VALUES (?, ?, ?, ?)", row)

    def finds(self, question):
        words = dict.fromkeys(re.findall(r"\w+", question.lower()))
        asked = " OR ".join(f'"{word}"' for word in words)
        found = "SELECT file, heading FROM chunk WHERE chunk MATCH ? ORDER BY bm25(chunk) LIMIT ?"
        return list(self.base.execute(found, (asked, max(PLACES)))), True


class Muninn:
    def __init__(self, program, folder, data):
        self.program, self.folder = Path(program).resolve(), folder
        self.variables = {"PATH": os.environ["PATH"], "DATA_DIR": data, "LOG": "error"}
        self.runs("ingest", ".")

    def runs(self, *arguments):
        ran = subprocess.run([self.program, *arguments], cwd=self.folder, env=self.variables, check=True, capture_output=True)
        return ran.stdout

    def finds(self, question):
        found = json.loads(self.runs("search", "--json", "--limit", str(max(PLACES)), "--", question))
        hits = [(hit["link"], hit["name"]) for hit in found["hits"]]
        return hits, found["answerability"] >= LEAST_ANSWERABILITY


def is_right(hit, evidence):
    """Of Muninn's name of a passage the last part is its heading."""
    file, name = hit
    return file == evidence["file"] and name.split(" › ")[-1].strip() in (evidence["heading"], evidence["heading"].replace("`", ""))


class Tally:
    def __init__(self):
        self.found, self.silent = {}, {}

    def add(self, question, hits, is_sure):
        kind, evidence = question["kind"], question["evidence"]
        self.silent.setdefault(kind, []).append(not is_sure or not hits)
        for unit, right in (("section", is_right), ("file", lambda hit, it: hit[0] == it["file"])):
            for place in PLACES if evidence else ():
                each = [any(right(hit, it) for hit in hits[:place]) for it in evidence]
                # Of two only one can be first.
                share = any(each) if place == 1 else sum(each) / len(each)
                self.found.setdefault((unit, kind), {}).setdefault(place, []).append(share)

    def row(self, unit):
        shown = []
        for kind in ("verbatim", "paraphrase", "two"):
            shares = self.found.get((unit, kind), {})
            shown.append(" ".join(f"{sum(of) / len(of):.2f}" for of in shares.values()))
        return " | ".join(shown)


def main():
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("program")
    asked.add_argument("sets", nargs="+", metavar="NAME=FOLDER")
    asked = asked.parse_args()
    whole = {}
    print("| set | | verbatim: 1 5 10 | paraphrased: 1 5 10 | two files: 1 5 10 |\n|---|---|---|---|---|")
    for one in asked.sets:
        name, folder = one.split("=", 1)
        folder = Path(folder).resolve()
        questions = [json.loads(line) for line in (HERE / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()]
        with tempfile.TemporaryDirectory() as data:
            for system, found in (("Muninn", Muninn(asked.program, folder, data)), ("FTS5", Fts5(folder))):
                tally, all_sets = Tally(), whole.setdefault(system, Tally())
                for question in questions:
                    hits, is_sure = found.finds(question["question"])
                    tally.add(question, hits, is_sure)
                    all_sets.add(question, hits, is_sure)
                for unit in ("section", "file"):
                    print(f"| {name} | {system}, {unit} | {tally.row(unit)} |", flush=True)
    for system, tally in whole.items():
        for unit in ("section", "file"):
            print(f"| **all** | {system}, {unit} | {tally.row(unit)} |")
    silent = {kind: f"{sum(of)} of {len(of)}" for kind, of in whole["Muninn"].silent.items()}
    print("Without a model Muninn would quote nothing for:", silent)


if __name__ == "__main__":
    main()
