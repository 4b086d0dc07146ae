"""What a store kept: each event once, and each session one chain."""

from collections import Counter, defaultdict


def kept(acknowledged, stored):
    """How many acknowledged events are not in the store, and how many are in it more than once."""
    counted = Counter(stored)
    lost = sum(1 for event in acknowledged if event not in counted)
    doubled = sum(1 for times in counted.values() if times > 1)
    return lost, doubled


def chain(lasts, links, members):
    """Whether all of a session's nodes are one chain that ends in its only last one.

    `lasts` are (session, node), `links` are (earlier, later), `members` are (session, node).
    """
    before = defaultdict(list)
    for earlier, later in links:
        before[later].append(earlier)
    last = defaultdict(list)
    for session, node in lasts:
        last[session].append(node)
    belongs = defaultdict(set)
    for session, node in members:
        belongs[session].add(node)
    for session in last.keys() | belongs.keys():
        if len(last[session]) != 1:
            return f"no: {len(last[session])} ends"
        walked, at = set(), last[session][0]
        while at is not None and at not in walked:
            walked.add(at)
            earlier = before[at]
            if len(earlier) > 1:
                return "no: it forks"
            at = earlier[0] if earlier else None
        missing = belongs[session] - walked
        if missing:
            return f"no: {len(missing)} beside it"
    return "yes"
