"""Fit the weights of text/support.py: python benchmarks/fit_support.py FILE (needs numpy and scikit-learn, which the product does not).

Reads the same rows as benchmarks/support.py, prints cross-validated figures (10 folds, repeated) and
the weights to put into the module.
"""

import json
import sys
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import balanced_accuracy_score
from sklearn.model_selection import KFold, RepeatedStratifiedKFold

from deep_research.claimcheck.support import _RANK, _SCORE, Match


def main(path: str) -> None:
    rows = [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]
    matches = [
        Match(r["claim"], r["evidence"], r["claim_title"], f"{r['claim_section']} {r['claim_context']}") for r in rows
    ]
    fit_ranking(matches, [[s for s in r["supporting_sentences"] if s] for r in rows])
    values = [m.features() for m in matches]
    table = np.array([[v[name] for name in _SCORE] for v in values])
    labels = [r["label"] for r in rows]
    fit_score("supported", table, np.array([label == "supported" for label in labels]))
    fit_score("partial", table, np.array([label != "not_supported" for label in labels]))


def fit_score(name: str, table: np.ndarray, wanted: np.ndarray, strength: float = 0.1) -> None:
    scale = table.std(0) + 1e-9
    predicted = np.zeros((5, len(wanted)))
    splits = RepeatedStratifiedKFold(n_splits=10, n_repeats=5, random_state=0).split(table, wanted)
    for number, (train, test) in enumerate(splits):
        model = LogisticRegression(C=strength, class_weight="balanced").fit(table[train] / scale, wanted[train])
        predicted[number // 10, test] = model.predict(table[test] / scale)
    print(
        name,
        "balanced accuracy, cross-validated",
        np.mean([balanced_accuracy_score(wanted, p) for p in predicted]).round(3),
    )
    model = LogisticRegression(C=strength, class_weight="balanced").fit(table / scale, wanted)
    print("  ", dict(zip(_SCORE, (model.coef_[0] / scale).round(2).tolist(), strict=True)), model.intercept_.round(2))


def fit_ranking(matches: list[Match], gold: list[list[list[int]]]) -> None:
    pairs = [
        (np.array([[row[n] for n in _RANK] for row in m.sentence_features()]), g)
        for m, g in zip(matches, gold, strict=True)
        if g
    ]
    models = []
    for train, _test in KFold(10, shuffle=True, random_state=0).split(pairs):
        models.append(_fit_rows([pairs[i] for i in train]))
    print(
        "ranking, mean and deviation over folds",
        dict(zip(_RANK, zip(np.mean(models, 0).round(1), np.std(models, 0).round(1), strict=True), strict=True)),
    )
    print("  ", dict(zip(_RANK, _fit_rows(pairs).round(1).tolist(), strict=True)))


def _fit_rows(pairs: list[tuple[np.ndarray, list[list[int]]]]) -> np.ndarray:
    rows, wanted, weights = [], [], []
    for table, gold in pairs:
        share = np.zeros(len(table))
        for chosen in gold:
            share[chosen] += 1 / len(gold)
        rows.append(table)
        wanted.append(share > 0)
        weights.append(np.where(share > 0, share / share.sum(), 1 / max(1, (share == 0).sum())))
    stacked = np.vstack(rows)
    scale = stacked.std(0) + 1e-9
    model = LogisticRegression(max_iter=500).fit(stacked / scale, np.concatenate(wanted), 10 * np.concatenate(weights))
    return model.coef_[0] / scale


if __name__ == "__main__":
    main(sys.argv[1])
