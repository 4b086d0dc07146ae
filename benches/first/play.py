#!/usr/bin/env python3
"""Plays first conversations with a muninn that has no model, and counts what it quotes. Standard library only.

    play.py MUNINN [--fresh] [FILE…]

Each file is a conversation in a data folder of its own. Its questions are asked one after the other, so that they are
remembered too; with --fresh each is asked of a copy that has heard nothing but the messages (a follow-up after the question
that it follows). Dated conversations, with several authors, need libfaketime and are left out without it.

A file: `messages`, each a text or {by, at, text}; `questions`, each {q, kind, expect: [places of the messages that answer it;
empty: nothing does], after: place of the question that it follows}; `pairs`: [newer, replaced]; `ask`: who asks, and when.
"""
import collections, glob, json, os, re, shutil, subprocess, sys, tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
FAKETIME = (glob.glob("/usr/lib/*/faketime/libfaketimeMT.so.1") or [None])[0]
# Asked after each line: what it prints ends the answer before it.
WHY, WHY_BEGINS, WHY_ENDS = "/why", "My last answer was to: ", r"^(Recalled: nothing\.|`(?:forget|correct) .*)$"
HEADING = re.compile(r"^(?:\d{4}-\d\d-\d\d, )?[^>]*?(?: \((newer|replaced on [^)]*)\))?:$")
Line = collections.namedtuple("Line", "by at text")
Quote = collections.namedtuple("Quote", "text mark")


def told(muninn, home, lines):
    """What is answered to each line. Lines of one person at one time are one process."""
    answers, begin = [], 0
    while begin < len(lines):
        by, at, _ = lines[begin]
        end = begin
        while end < len(lines) and lines[end][:2] == (by, at):
            end += 1
        environment = {"HOME": home, "PATH": os.environ["PATH"], "DATA_DIR": f"{home}/data", "TIME_ZONE": "UTC"}
        environment |= {"USER": by} if by else {}
        if at:
            environment |= {"LD_PRELOAD": FAKETIME, "FAKETIME": f"@{at}:00", "TZ": "UTC", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
        typed = "".join(f"{line.text}\n{WHY}\n" for line in lines[begin:end])
        chat = subprocess.run([muninn, "chat"], input=typed, capture_output=True, text=True, cwd=home, env=environment, timeout=300)
        if chat.returncode:
            sys.exit(f"muninn chat ended with {chat.returncode}: {chat.stderr}")
        rest = chat.stdout
        for _ in lines[begin:end]:
            at_why = rest.index(WHY_BEGINS)
            answers.append(rest[:at_why].strip())
            rest = rest[at_why:]
            rest = rest[re.search(WHY_ENDS, rest, re.M).end():]
        begin = end
    return answers


def quotes(answer):
    """What an answer quotes, in its order, with the mark of its heading."""
    found, heading, is_open = [], "", False
    for line in answer.split("\n"):
        if line.startswith(">") and is_open:
            found[-1] = found[-1]._replace(text=f"{found[-1].text}\n{line[1:].strip()}")
        elif line.startswith(">"):
            known = HEADING.match(heading)
            found.append(Quote(line[1:].strip(), known and known.group(1)))
        elif line.endswith(":"):
            heading = line
        is_open = line.startswith(">")
    return found


def place(quote, texts):
    """Which message is quoted; the text itself, where it is none of them."""
    plain = lambda text: re.sub(r"\s+", " ", re.sub(r"^remember that ", "", text)).strip().lower()
    sought = plain(quote.text)
    for number, text in enumerate(map(plain, texts)):
        if sought == text or (len(sought) > 12 and sought.rstrip(" …") in text):
            return number
    return quote.text


def verdict(expected, given):
    if not expected:
        return "quoted, should be silent" if given else "rightly silent"
    if not given:
        return "silent, should answer"
    if given[0] in expected:
        return "right first"
    return "right among" if set(given) & set(expected) else "wrong"


def asked(muninn, home, questions, lines, is_fresh):
    """The answers to all questions."""
    if not is_fresh:
        return told(muninn, home, lines)
    answers = []
    for number in range(len(questions)):
        chain, at = [], number
        while at is not None:
            chain.insert(0, lines[at])
            at = questions[at].get("after")
        copy = os.path.join(tempfile.mkdtemp(), "home")
        shutil.copytree(home, copy)
        answers.append(told(muninn, copy, chain)[-1])
        shutil.rmtree(os.path.dirname(copy))
    return answers


def main():
    arguments = [it for it in sys.argv[1:] if not it.startswith("--")]
    if not arguments:
        sys.exit(__doc__)
    muninn, is_fresh = os.path.abspath(arguments[0]), "--fresh" in sys.argv
    counts, marks = collections.Counter(), collections.Counter()
    for path in arguments[1:] or sorted(glob.glob(f"{HERE}/*.json")):
        talk = json.load(open(path, encoding="utf-8"))
        by_default = talk.get("ask", {})
        if by_default.get("at") and not FAKETIME:
            print(f"{talk['trade']}: left out, as libfaketime is not installed")
            continue
        messages = [Line(it.get("by"), it.get("at"), it["text"]) if isinstance(it, dict) else Line(None, None, it) for it in talk["messages"]]
        lines = [Line(it.get("by", by_default.get("by")), by_default.get("at"), it["q"]) for it in talk["questions"]]
        home = tempfile.mkdtemp()
        to_messages = told(muninn, home, messages)
        answers = asked(muninn, home, talk["questions"], lines, is_fresh)
        shutil.rmtree(home)
        counts["messages"] += len(messages)
        counts["messages that are quoted something"] += sum(bool(quotes(answer)) for answer in to_messages)
        texts, pairs = [message.text for message in messages], talk.get("pairs", [])
        for question, answer in zip(talk["questions"], answers):
            quoted = quotes(answer)
            given = [place(quote, texts) for quote in quoted]
            of_it = verdict(question["expect"], given)
            counts[of_it] += 1
            shown = [f"{at} ({quote.mark})" if quote.mark else at for at, quote in zip(given, quoted)]
            if of_it not in ("right first", "rightly silent"):
                print(f"{talk['trade']}: {of_it}: {question['q']!r} {question['expect']}, got {shown}")
            replaced = [at for at, quote in zip(given, quoted) if (quote.mark or "").startswith("replaced")]
            for at in replaced:
                is_right = at in [old for _, old in pairs]
                marks["replaced, rightly" if is_right else "replaced, wrongly"] += 1
                if not is_right:
                    print(f"{talk['trade']}: wrongly replaced: {question['q']!r}: {at}")
            marks["replaced, not marked"] += sum(new in given and old in given and old not in replaced for new, old in pairs)
    print(json.dumps(counts), json.dumps(marks), sep="\n")


main()
