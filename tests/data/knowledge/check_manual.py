#!/usr/bin/env python3
"""Check the documents in manual/ and the questions about them; print a summary, fail on any fault."""
import collections
import html.parser
import json
import pathlib
import re
import sys

HERE = pathlib.Path(__file__).resolve().parent
LEAST = {"paraphrase": 50, "name": 30, "specific": 25, "path": 15, "nothing": 20}
FILES = {".md": 24, ".txt": 6, ".html": 6}
faults = []

class Page(html.parser.HTMLParser):
    """Sections of a page: what stands in head, nav and script is no content."""

    def __init__(self):
        super().__init__()
        self.sections, self.skip, self.heading = [["", ""]], 0, False

    def handle_starttag(self, tag, attrs):
        self.skip += tag in ("head", "nav", "script")
        if tag in ("h1", "h2", "h3"):
            self.sections.append(["", ""])
            self.heading = True

    def handle_endtag(self, tag):
        self.skip -= tag in ("head", "nav", "script")
        self.heading = self.heading and tag not in ("h1", "h2", "h3")

    def handle_data(self, data):
        if not self.skip:
            self.sections[-1][0 if self.heading else 1] += data

def sections(path):
    text = path.read_text(encoding="ascii")
    if path.suffix == ".html":
        page = Page()
        page.feed(text)
        return [(" ".join(h.split()), b) for h, b in page.sections if h or b.strip()]
    parts = re.split(r"^#{1,3} +(.+)$", text, flags=re.M) if path.suffix == ".md" else [text]
    return [("", parts[0])] * bool(parts[0].strip()) + list(zip(parts[1::2], parts[2::2]))


known, words = collections.Counter(), {}
files = sorted((HERE / "manual").iterdir())
for path in files:
    found = sections(path)
    known.update(f"{path.name}#{heading}" for heading, _ in found)
    sizes = [len(re.sub(r"[|-]{2,}| \| ?", " ", body).split()) for _, body in found]
    words[path.name] = sum(sizes)
    if path.suffix != ".txt":
        faults += [f"{path.name}#{h}: {n} words" for (h, _), n in zip(found, sizes) if n and not 60 <= n <= 250]
    if not 350 <= words[path.name] <= 900:
        faults.append(f"{path.name}: {words[path.name]} words")
    if any(len(line) > 120 for line in path.read_text().splitlines()):
        faults.append(f"{path.name}: a line over 120 characters")
faults += [f"{s}: a heading twice" for s, n in known.items() if n > 1]
suffixes = collections.Counter(path.suffix for path in files)
faults += [] if suffixes == FILES else [f"files are {dict(suffixes)}"]

rows = [json.loads(line) for line in (HERE / "manual_questions.jsonl").read_text(encoding="ascii").splitlines()]
for number, row in enumerate(rows, 1):
    faults += [] if set(row) == {"question", "kind", "sections"} else [f"line {number}: keys {sorted(row)}"]
    faults += [f"line {number}: no section {s!r}" for s in row["sections"] if known[s] != 1]
    least = {"nothing": 0, "path": 2}.get(row["kind"], 1)
    if len(set(row["sections"])) != len(row["sections"]) or len(row["sections"]) < least or (
            row["kind"] == "nothing" and row["sections"]):
        faults.append(f"line {number}: sections of a {row['kind']} question")
kinds = collections.Counter(row["kind"] for row in rows)
faults += [f"unknown kind {k!r}" for k in kinds if k not in LEAST]
faults += [f"{k}: {kinds[k]} questions, {n} wanted" for k, n in LEAST.items() if kinds[k] < n]
faults += [f"asked twice: {q}" for q, n in collections.Counter(r["question"] for r in rows).items() if n > 1]
used = {s.split("#")[0] for r in rows for s in r["sections"]}
faults += [f"{name}: no question" for name in words if name not in used]
print(f"{len(files)} files {dict(suffixes)}, {len(known)} sections, {sum(words.values())} words")
print(f"{len(rows)} questions {dict(kinds)}, {len({s for r in rows for s in r['sections']})} sections asked for")
sys.exit("\n".join(faults) if faults else None)
