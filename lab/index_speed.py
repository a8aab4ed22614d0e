"""Measure time and memory for indexing and querying a large library.

    python lab/index_speed.py [--passages 100000] [--questions 200] [--file PATH]

The text is made here: words of a Zipfian vocabulary of 200,000 (as in natural text, a few words
make up half of it) in sentences with names of people and places, under titles. Questions have 8 to
12 words, taken from one passage each, function words included. The last line is one JSON object;
`cpu` stands for the processor time of this process, which other work on the machine disturbs less.
"""

import argparse
import bisect
import itertools
import json
import os
import random
import resource
import statistics
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import NamedTuple

from deep_research.data import Document, Found
from deep_research.stores.sqlite_library import SqliteLibrary

VOCABULARY = 200_000
FUNCTION_WORDS = (
    "the of and to in a is that for it as was with be by on not he his but at are this have from or had an they which"
).split()
SYLLABLES = [
    c + v for c in "b d f g k l m n p r s t v z ch sh th br st tr".split() for v in "a e i o u ai ea or".split()
]
PASSAGES_OF_A_DOCUMENT = 25
BATCH = 40


class Writer:
    """Makes text with the statistics of natural language, the same for the same seed."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        made = random.Random(1)
        words: dict[str, None] = dict.fromkeys(FUNCTION_WORDS)
        while len(words) < VOCABULARY:
            words["".join(made.choices(SYLLABLES, k=made.choice((1, 2, 2, 3, 3, 4))))] = None
        self.words = list(words)
        self.names = [word.capitalize() for word in self.words[3000:60_000:3]]
        # Zipf–Mandelbrot: frequency falls with the rank, more slowly among the commonest.
        self.steps = list(itertools.accumulate(1 / (rank + 2.7) for rank in range(1, VOCABULARY + 1)))

    def word(self) -> str:
        """A word, as often as its rank allows."""
        return self.words[bisect.bisect(self.steps, self.random.random() * self.steps[-1])]

    def name(self) -> str:
        """A name of two words."""
        # Names are as unevenly spread as words: a few are everywhere, most are rare.
        place = int(len(self.names) ** self.random.random()) - 1
        return f"{self.names[place]} {self.names[-1 - int(len(self.names) ** self.random.random()) // 2]}"

    def sentence(self) -> str:
        """A sentence, often with a name or a year."""
        words = [self.word() for _ in range(self.random.randint(9, 24))]
        if self.random.random() < 0.6:
            words[self.random.randrange(1, len(words))] = self.name()
        if self.random.random() < 0.3:
            words.append(f"in {self.random.randint(1850, 2024)}")
        return " ".join(words).capitalize() + "."

    def paragraph(self) -> str:
        """A paragraph that makes one passage."""
        text = ""
        while len(text) < 760:
            text += self.sentence() + " "
        return text.strip()

    def document(self) -> Document:
        """A document with a title."""
        paragraphs = [self.paragraph() for _ in range(PASSAGES_OF_A_DOCUMENT)]
        return Document(text="\n\n".join(paragraphs), title=f"{self.name()} and the {self.word()}")

    def question(self, passage: str) -> str:
        """A question in words of the passage."""
        words = [w.strip(".") for w in passage.split()]
        start = self.random.randrange(max(1, len(words) - 14))
        taken = words[start : start + self.random.randint(6, 9)]
        return " ".join(["What", "is", *taken]) + "?"


class Spent(NamedTuple):
    """Seconds by the clock and of the processor."""

    wall: float
    cpu: float


@contextmanager
def timed(spent: list[Spent]) -> Iterator[None]:
    """Add to `spent` what the block takes."""
    wall, cpu = time.perf_counter(), time.process_time()
    yield
    spent.append(Spent(time.perf_counter() - wall, time.process_time() - cpu))


def fill(library: SqliteLibrary, writer: Writer, passages: int) -> Spent:
    """Add documents until the library holds `passages`; return what indexing took."""
    spent: list[Spent] = []
    made = 0
    while made < passages:
        documents = [writer.document() for _ in range(BATCH)]
        with timed(spent), library.batch():
            for document in documents:
                source = library.add_source(Found(key=f"d{made}", title=document.title, origin="benchmark"))
                library.add_snapshot(source.id, document, retrieved_at="1970-01-01T00:00:00Z")
                made += len(library.passages(source.id))
    return Spent(sum(one.wall for one in spent), sum(one.cpu for one in spent))


def asked(library: SqliteLibrary, writer: Writer, count: int, hops: int) -> tuple[list[Spent], float]:
    """Return the cost of each question, and the share answered in the first 5 hits."""
    sources = library.sources()
    spent: list[Spent] = []
    found = 0
    for _ in range(count):
        passage = writer.random.choice(library.passages(writer.random.choice(sources).id))
        question = writer.question(passage.text)
        with timed(spent):
            hits = library.search(question, limit=10, hops=hops)
        found += passage.id in [hit.passage.id for hit in hits[:5]]
    return spent, found / count


def measure(path: Path, passages: int, questions: int) -> dict[str, float]:
    writer = Writer(seed=7)
    library = SqliteLibrary(path)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    indexing = fill(library, writer, passages)
    figures: dict[str, float] = {
        "passages": sum(len(library.passages(s.id)) for s in library.sources()),
        "characters": sum(p.end - p.start for s in library.sources() for p in library.passages(s.id)),
        "index_seconds": round(indexing.wall, 1),
        "index_cpu_seconds": round(indexing.cpu, 1),
        "questions": questions,
    }
    for hops in (1, 2):
        spent, found = asked(library, writer, questions, hops)
        wall, cpu = [1000 * one.wall for one in spent], [1000 * one.cpu for one in spent]
        figures[f"query_ms_median_hops_{hops}"] = round(statistics.median(wall), 1)
        figures[f"query_ms_p95_hops_{hops}"] = round(statistics.quantiles(wall, n=20)[-1], 1)
        figures[f"query_cpu_ms_median_hops_{hops}"] = round(statistics.median(cpu), 1)
        figures[f"found_at_5_hops_{hops}"] = round(found, 3)
    library.close()
    figures["peak_memory_mb"] = round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)
    figures["memory_before_mb"] = round(before / 1024)
    figures["file_mb"] = round(os.stat(path).st_size / 1e6)
    return figures


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--passages", type=int, default=100_000)
    parser.add_argument("--questions", type=int, default=200)
    parser.add_argument("--file", type=Path, help="where the library is written (default: a temporary folder)")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        path = given.file or Path(folder) / "library.db"
        print(json.dumps(measure(path, given.passages, given.questions)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
