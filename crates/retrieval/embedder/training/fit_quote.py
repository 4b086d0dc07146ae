"""Fits the weights by which a person without a model is quoted anything: BIAS to AHEAD in `src/memory/quote.rs`. Needs NumPy and scikit-learn.

    muninn recall-eval --exchanges FOLDER/exchanges.jsonl --queries FOLDER/queries.jsonl --out RUN.jsonl
    fit_quote.py FOLDER RUN.jsonl [FOLDER RUN.jsonl ...]

The queries have `kind`, `evidence` and `also`, as in `tests/data/team`. A question is met where evidence is among the three that would be quoted; one
whose evidence is not is left out. Each folder is judged by a fit on the others (the worlds of one folder apart from one another and from its first
conversations), and the weights printed are of all. ASKS is not fitted: what asks nothing is left out.
"""

import json
import sys
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score

# Small talk that is quoted something disturbs more than a question that is.
CHAT = 2.0
ASKS = 2.0


def lines(path):
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines() if line.strip()]


def rows(folder, run):
    """The group, the grounds, whether they are right, and the kind, of each question of which something might be quoted."""
    answered = {line["id"]: line for line in lines(run)}
    for query in lines(Path(folder) / "queries.jsonl"):
        if not answered[query["id"]]["grounds"]:
            continue
        first, grounds = answered[query["id"]]["grounds"]
        evidence = {*query["evidence"], *query.get("also", [])}
        is_right = bool(evidence & set(first))
        if evidence and not is_right:
            continue
        place = query["scope"].split("/")[0]
        is_first_talk = place[:1] == "n" and place[1:].isdigit()
        group = f"{Path(folder).name}/{'first' if is_first_talk else place}"
        yield group, grounds, is_right, query.get("kind", "nothing")


def fitted(features, right, weight):
    """Weights of a logistic regression on scaled features, for features as they are; the bias last. Right and wrong count the same."""
    middle, spread = features.mean(0), features.std(0) + 1e-9
    model = LogisticRegression(C=0.3, max_iter=3000, class_weight="balanced")
    model.fit((features - middle) / spread, right, sample_weight=weight)
    weights = model.coef_[0] / spread
    return np.append(weights, model.intercept_[0] - weights @ middle)


def main(arguments):
    all_rows = [row for folder, run in zip(arguments[::2], arguments[1::2]) for row in rows(folder, run)]
    names = [name for name in all_rows[0][1] if name != "asks"]
    groups = np.array([group for group, *_ in all_rows])
    features = np.array([[grounds[name] for name in names] for _, grounds, *_ in all_rows])
    asks = np.array([grounds["asks"] > 0 for _, grounds, *_ in all_rows])
    right = np.array([is_right for _, _, is_right, _ in all_rows])
    weight = np.array([1.0 if is_right or kind == "nothing" else CHAT for _, _, is_right, kind in all_rows])

    def fit(on):
        return fitted(features[on & asks], right[on & asks], weight[on & asks])

    for group in sorted(set(groups)):
        here = groups == group
        weights = fit(~here)
        odds = features[here] @ weights[:-1] + weights[-1] + ASKS * (asks[here] - 1)
        print(f"{group}: {here.sum()} questions, area under the curve {roc_auc_score(right[here], odds):.3f}")
    weights = fit(groups == groups)
    print({"bias": round(weights[-1] - ASKS, 2)} | {name: round(value, 2) for name, value in zip(names, weights)})


main(sys.argv[1:])
