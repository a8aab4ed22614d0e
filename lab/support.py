"""Measure the offline scorer on page and claim pairs: lab/support.py FILE.

FILE holds JSON lines {id, label (supported, partially_supported, not_supported), claim, claim_title,
supporting_sentences (one list of indices per annotator), evidence (sentences)}, the format of the WiCE data set. The last line printed is one JSON object of figures.
"""

import argparse
import json
import time
from collections.abc import Sequence
from pathlib import Path

from claimcheck.support import SUPPORTED, support


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("file", type=Path)
    rows = [
        json.loads(line) for line in parser.parse_args().file.read_text(encoding="utf-8").splitlines() if line.strip()
    ]
    began = time.perf_counter()
    found = [support(row["claim"], row["evidence"], title=row.get("claim_title", "")) for row in rows]
    seconds = time.perf_counter() - began
    full = [(row["label"] == "supported", s.score >= SUPPORTED) for row, s in zip(rows, found, strict=True)]
    ranked = [(row.get("supporting_sentences", []), s.best) for row, s in zip(rows, found, strict=True)]
    figures = {
        "claims": len(rows),
        "balanced_accuracy_supported": balanced_accuracy(full),
        "f1_supported": f1(full),
        "evidence_recall_at_1": recall(ranked, 1),
        "evidence_recall_at_3": recall(ranked, 3),
        "ms_per_claim": round(1000 * seconds / max(1, len(rows)), 2),
    }
    for name, value in figures.items():
        print(f"{name:32} {value}")
    print(json.dumps(figures))


def balanced_accuracy(pairs: Sequence[tuple[bool, bool]]) -> float:
    """Mean of the recall of both classes; a class without rows is left out."""
    shares = []
    for side in (True, False):
        said = [predicted == side for wanted, predicted in pairs if wanted == side]
        if said:
            shares.append(sum(said) / len(said))
    return round(sum(shares) / max(1, len(shares)), 4)


def f1(pairs: Sequence[tuple[bool, bool]]) -> float:
    """F1 of the positive class."""
    right = sum(wanted and predicted for wanted, predicted in pairs)
    total = sum(wanted for wanted, _ in pairs) + sum(predicted for _, predicted in pairs)
    return round(2 * right / total, 4) if total else 0.0


def recall(ranked: Sequence[tuple[list[list[int]], tuple[int, ...]]], k: int) -> float:
    """Return the share of an annotator's sentences found among the first `k`.

    The best matching annotator of a claim counts; claims without annotated sentences are left out.
    """
    shares = [
        max(len(set(best[:k]) & set(gold)) / len(set(gold)) for gold in golds if gold)
        for golds, best in ranked
        if any(golds)
    ]
    return round(sum(shares) / max(1, len(shares)), 4)


if __name__ == "__main__":
    main()
