#!/usr/bin/env python3
"""What somebody is quoted who tries Muninn with one file and no model: `muninn ingest FILE`, then `muninn ask` each question about it.

    benches/documents/small.py target/release/muninn

The files are in `small`, the questions in `small.jsonl`: `passage` is what the right passage says, or null where the file answers nothing.
A question is met where the right passage is quoted, or where nothing is. Needs Python 3.9, and nothing else.
"""

import argparse
import json
import os
import subprocess
import tempfile
from pathlib import Path

HERE = Path(__file__).parent


def asked_of(program, file, questions):
    """The answers to questions about one file, in a folder of its own."""
    with tempfile.TemporaryDirectory() as data:

        def runs(*arguments):
            variables = {"PATH": os.environ["PATH"], "DATA_DIR": data, "LOG": "error"}
            ran = subprocess.run([program, *arguments], cwd=HERE / "small", env=variables, check=True, capture_output=True)
            return ran.stdout

        runs("ingest", file)
        return [json.loads(runs("ask", "--json", "--", question))["answer"] for question in questions]


def is_quoted(answer):
    return "search_knowledge(" in answer


def plain(text):
    """Without the marks of quoted lines."""
    return " ".join(text.replace("> |", " ").split()).lower()


def main():
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("program")
    program = Path(asked.parse_args().program).resolve()
    lines = (HERE / "small.jsonl").read_text(encoding="utf-8").splitlines()
    by_file = {}
    for question in map(json.loads, lines):
        by_file.setdefault(question["file"], []).append(question)
    quoted, silent = [], []
    for file, questions in by_file.items():
        answers = asked_of(program, file, [it["question"] for it in questions])
        for question, answer in zip(questions, answers):
            passage = question["passage"]
            if passage is None:
                silent.append(not is_quoted(answer))
            else:
                quoted.append(is_quoted(answer) and plain(passage) in plain(answer))
    print(f"Quoted with the right passage: {sum(quoted)} of {len(quoted)}. Silent where nothing answers: {sum(silent)} of {len(silent)}.")


if __name__ == "__main__":
    main()
