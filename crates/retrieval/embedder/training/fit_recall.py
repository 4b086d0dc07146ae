"""Fits the coefficients of recall: calibration.json, from the features that recall itself computes.

   cargo run --release --example recall_features -- exchanges.jsonl queries.jsonl features.jsonl [calibration.json]
   python fit_recall.py features.jsonl exchanges.jsonl queries.jsonl calibration.json [--table]

queries.jsonl needs `evidence` (exchange ids) for this. The prior and the first model enter the features: run both steps
until nothing changes (twice). Every figure is leave-one-conversation-out; --table adds the ablations of docs/recall-experiments.md.
Needs numpy and scikit-learn."""
import collections, json, math, sys
import numpy as np
from sklearn.linear_model import LogisticRegression

NAMES = ['cosine', 'z_cosine', 'ln_bm25', 'z_bm25', 'near_z_cosine', 'near_z_bm25', 'around_z_cosine', 'around_z_bm25', 'coverage', 'company']
FIRST, WORDS = NAMES[:-1], [n for n in NAMES[:-1] if 'cosine' not in n]
EMBEDDER, K, NEGATIVES = 'local/static-minilm-wn-256-int8', 32, 150_000

def lines(path):
    with open(path, encoding='utf-8') as f: return [json.loads(l) for l in f if l.strip()]

features, exchanges, queries, out = sys.argv[1:5]
exchanges, queries = lines(exchanges), {q['id']: q for q in lines(queries)}
size = {e['id']: max(1, (len(e['input'])+len(e['output']))/4) for e in exchanges}
seq = {e['id']: i for i, e in enumerate(exchanges)}
asked = []                                     # (scope, kind, query, ids, X, y)
for l in lines(features):
    q = queries[l['id']]; rows = sorted(l['rows'], key=lambda r: seq[r[0]]); ids = [r[0] for r in rows]; gold = set(q['evidence'])
    asked.append((q['scope'], l['kind'], q, ids, np.array([r[1] for r in rows], np.float64), np.array([i in gold for i in ids])))
scopes = list(dict.fromkeys(a[0] for a in asked))
sigmoid = lambda x: 1/(1+np.exp(-x))

def fit(names, held=None):
    cols = [NAMES.index(n) for n in names]; data = [a for a in asked if a[0] != held]
    X = np.concatenate([a[4][:, cols] for a in data]); y = np.concatenate([a[5] for a in data])
    negative = np.flatnonzero(~y); sample = np.random.default_rng(0).choice(negative, min(len(negative), NEGATIVES), replace=False)
    use = np.concatenate([np.flatnonzero(y), sample]); mean, sd = X[use].mean(0), X[use].std(0)+1e-9
    model = LogisticRegression(C=100, max_iter=1000).fit((X[use]-mean)/sd, y[use]); w = model.coef_[0]/sd
    return w, model.intercept_[0]-(model.coef_[0]*mean/sd).sum()-math.log(len(negative)/len(sample))

def held_out(names):
    cols = [NAMES.index(n) for n in names]; ps = {}
    for s in scopes:
        w, b = fit(names, s)
        for i, a in enumerate(asked):
            if a[0] == s: ps[i] = sigmoid(a[4][:, cols]@w+b)
    return ps

def ranks(scores):
    r = collections.defaultdict(list)
    for i, p in scores.items():
        _, kind, q, ids, _, y = asked[i]
        if kind != 'whole': continue
        order = np.argsort(-p, kind='stable')[:50]; hit, n = y[order], len(q['evidence']); used = np.cumsum([size[ids[j]] for j in order])
        for k in (5, 10): r[f'R@{k}'].append(hit[:k].sum()/n)
        r['R@1000tok'].append(hit[used <= 1000].sum()/n); r[f'R@10 cat {q["category"]}'].append(hit[:10].sum()/n); r[f'R@10 {q["scope"]}'].append(hit[:10].sum()/n)
    return {k: round(float(np.mean(v)), 4) for k, v in r.items()}

def at(scores, t):
    n, r, empty, found = [], [], 0, 0
    for i, p in scores.items():
        _, kind, q, _, _, y = asked[i]
        if kind == 'whole': n.append((p >= t).sum()); r.append(y[p >= t].sum()/len(q['evidence'])); found += y[p >= t].sum()
    return dict(recall=round(float(np.mean(r)), 4), exchanges=round(float(np.mean(n)), 2), precision=round(float(found/max(1, sum(n))), 4), nothing=round(float(np.mean([x == 0 for x in n])), 4))

def silence(scores, t):
    """pieces of a history without evidence: how many of the questions recall something, by the history's length"""
    by = collections.defaultdict(list)
    for i, p in scores.items():
        if asked[i][1] == 'piece' and not asked[i][5].any(): by['<20' if len(p) < 20 else '20-60' if len(p) < 60 else '>60'].append((p >= t).any())
    return {k: round(float(np.mean(v)), 4) for k, v in sorted(by.items())}

whole = [a for a in asked if a[1] == 'whole']
spread = lambda col: dict(mean=float(np.mean([col(a).mean() for a in whole])), deviation=float(np.mean([col(a).std() for a in whole])))
prior = dict(cosine=spread(lambda a: a[4][:, 0]), bm25=spread(lambda a: np.expm1(a[4][:, 2])))
named = lambda names: (lambda w, b: dict(bias=float(b), **{n: float(x) for n, x in zip(names, w)}))(*fit(names))
fused, words = held_out(NAMES), held_out(WORDS)
grid = (.005, .01, .0125, .015, .0175, .02, .03, .05, .1, .2, .3, .5)
points = {t: at(fused, t) for t in grid}
threshold = min((t for t in grid if points[t]['exchanges'] <= 8), default=.02)
p, y = np.concatenate(list(fused.values())), np.concatenate([asked[i][5] for i in fused])
edges = [0, .005, .01, .02, .05, .1, .2, .3, .5, .7, 1]
reliability = {f'{a}-{b}': [round(float(p[m].mean()), 4), round(float(y[m].mean()), 4)] for a, b in zip(edges, edges[1:]) if (m := (p >= a) & (p < b)).any()}
result = dict(embedder=EMBEDDER, threshold=threshold, K=K, prior=prior, weights=dict(first=named(FIRST), fused=named(NAMES), words=named(WORDS)),
              measured=dict(how='LoCoMo questions, leave-one-conversation-out', ranks={k: v for k, v in ranks(fused).items() if 'conv' not in k}, words_only={k: v for k, v in ranks(words).items() if 'conv' not in k},
                            operating_points=points, recalled_where_nothing_is=silence(fused, threshold), predicted_and_true=reliability))
json.dump(result, open(out, 'w'), indent=1); open(out, 'a').write('\n')
print(json.dumps(result, indent=1))
if '--table' in sys.argv:
    show = lambda name, s: print(f'{name:28s}', ' '.join(f'{k} {v}' for k, v in ranks(s).items()))
    show('cosine', {i: a[4][:, 0] for i, a in enumerate(asked)}); show('words', words)
    sets = [('cosine + BM25', NAMES[:4]), ('+ coverage', NAMES[:4]+['coverage']), ('+ next to it', NAMES[:6]+['coverage']), ('+ around it', FIRST), ('+ company', NAMES)]
    for name, names in sets: s = held_out(names); show(name, s); print(' '*28, [at(s, t) for t in (.015, .0175, .02)])
