"""How well the library finds the passages that answer a question.

    python lab/retrieval.py FOLDER [--corpus FILE --queries FILE]

FOLDER holds `corpus.jsonl` {docid, title, text | sentences} and `queries.jsonl` {qid, question,
gold_docids, answers?, decomposition?}; names may carry a prefix, and every pair of files is run.
Each row becomes one document of a library; each question is searched the way a run searches. The
last line is one JSON object of figures.
"""

import argparse
import json
import statistics
import sys
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from claimcheck.text.tokens import normalise
from deep_research.data import Document, Found, PassageHit
from deep_research.stores.sqlite_library import SqliteLibrary

DEPTH = 10
HOPS = 2
Row = dict[str, Any]


def rows(path: Path) -> list[Row]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]


def pairs(folder: Path) -> dict[str, tuple[Path, Path]]:
    """Return the matching corpus and queries files of a folder by their prefix."""
    found: dict[str, tuple[Path, Path]] = {}
    for corpus in sorted(folder.glob("*corpus*.jsonl")):
        prefix = corpus.name.split("corpus")[0]
        queries = sorted(q for q in folder.glob("*queries*.jsonl") if q.name.split("queries")[0] == prefix)
        if queries:
            found[prefix.strip("_-.") or "all"] = (corpus, queries[0])
    return found


def fill(library: SqliteLibrary, corpus: Iterable[Row]) -> dict[str, Any]:
    """Add every row as a document; return the docid of each source."""
    docids: dict[str, Any] = {}
    with library.batch():
        for row in corpus:
            text = row["text"] if "text" in row else "".join(row["sentences"])
            title = row.get("title") or ""
            source = library.add_source(Found(key=f"row:{row['docid']}", title=title, origin="benchmark"))
            library.add_snapshot(source.id, Document(text=text, title=title), retrieved_at="1970-01-01T00:00:00Z")
            docids[source.id] = row["docid"]
    return docids


def documents(hits: Iterable[PassageHit], docids: dict[str, Any]) -> list[Any]:
    """The docids of the hits, each at its first place."""
    return list(dict.fromkeys(docids[hit.passage.source] for hit in hits))


def plain(text: str) -> str:
    return " ".join("".join(c if c.isalnum() else " " for c in normalise(text)).split())


def answers(row: Row) -> list[list[str]]:
    """What has to be found: for each answer the ways to write it."""
    if row.get("decomposition"):
        return [[part["answer"]] for part in row["decomposition"]]
    if row.get("answers"):
        return [list(row["answers"])]
    return []


def answer_recall(row: Row, texts: list[str]) -> float | None:
    wanted = answers(row)
    if not wanted:
        return None
    held = [plain(text) for text in texts]
    return statistics.fmean(any(plain(way) in text for way in ways for text in held) for ways in wanted)


def judge(row: Row, order: list[Any], texts: list[str]) -> dict[str, float]:
    gold = set(row["gold_docids"])
    figures: dict[str, float] = {f"recall_at_{k}": len(gold & set(order[:k])) / len(gold) for k in (1, 5, 10)}
    figures["all_gold_at_8"] = float(gold <= set(order[:8]))
    figures["mrr_at_10"] = max((1 / (place + 1) for place, doc in enumerate(order[:10]) if doc in gold), default=0.0)
    if (recall := answer_recall(row, texts)) is not None:
        figures["answer_recall_at_5"] = recall
    return figures


def run(corpus: Path, queries: Path) -> dict[str, float]:
    library = SqliteLibrary(":memory:")
    began = time.perf_counter()
    docids = fill(library, rows(corpus))
    index_seconds = time.perf_counter() - began
    judged, spent = [], []
    asked = rows(queries)
    for row in asked:
        began = time.perf_counter()
        hits = library.search(row["question"], limit=2 * DEPTH, hops=HOPS)
        spent.append(time.perf_counter() - began)
        judged.append(judge(row, documents(hits, docids), [h.passage.text for h in hits[:5]]))
    keys = dict.fromkeys(key for figures in judged for key in figures)
    means = {key: statistics.fmean(f[key] for f in judged if key in f) for key in keys}
    return {
        "queries": len(asked),
        "passages": sum(len(library.passages(source)) for source in docids),
        **{key: round(value, 4) for key, value in means.items()},
        "index_seconds": round(index_seconds, 2),
        "query_ms_median": round(1000 * statistics.median(spent), 2),
    }


def average(sets: dict[str, dict[str, float]]) -> dict[str, Any]:
    """Return the mean of each figure over the sets, sums for counts, and the sets."""
    counted = ("queries", "passages", "index_seconds")
    keys = dict.fromkeys(key for figures in sets.values() for key in figures)
    values = {key: [figures[key] for figures in sets.values() if key in figures] for key in keys}
    means = {key: sum(v) if key in counted else round(statistics.fmean(v), 4) for key, v in values.items()}
    return {**means, "sets": sets}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--corpus", type=Path)
    parser.add_argument("--queries", type=Path)
    given = parser.parse_args()
    chosen = given.corpus and given.queries
    todo = {"all": (given.corpus, given.queries)} if chosen else pairs(given.folder)
    if not todo:
        print(f"{given.folder}: no pair of *corpus*.jsonl and *queries*.jsonl", file=sys.stderr)
        return 2
    sets: dict[str, dict[str, float]] = {}
    for name, (corpus, queries) in todo.items():
        sets[name] = run(corpus, queries)
        if len(todo) > 1:
            print(json.dumps({"set": name, **sets[name]}, ensure_ascii=False))
    print(json.dumps(average(sets) if len(sets) > 1 else next(iter(sets.values())), ensure_ascii=False))
    return 0


if __name__ == "__main__":
    sys.exit(main())
