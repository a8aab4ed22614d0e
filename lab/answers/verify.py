"""Check the questions: each quote stands in its file, each pattern matches a quote, the halves are disjoint and alike.

    python lab/answers/verify.py [--scratch FOLDER]

Corpora whose package is not installed are named and left out. Exit code 1 if anything is wrong.
"""

import argparse
import json
import re
import sys
import tempfile
from collections import Counter
from functools import cache
from pathlib import Path

from corpora import HERE, find_folder, join_space, load_corpora, read_paragraphs

FIELDS = ["id", "split", "lang", "kind", "corpus", "question", "expect", "reject", "accept", "file", "quote", "note"]
KINDS = frozenset("fact definition howto list comparison yesno multi table unanswerable vague".split())
LANGUAGES = frozenset("en zh ko ja".split())
DECLINED = frozenset({"unanswerable", "vague"})


@cache
def read_file(path: Path) -> str:
    """Return the text of a file, white space joined."""
    return join_space("\n".join(read_paragraphs(path)))


def is_matched(patterns: list[str], quotes: list[str]) -> bool:
    """Tell whether any pattern occurs in any quote."""
    return any(re.search(pattern, quote, re.I) for pattern in patterns for quote in quotes)


def check_row(row: dict, folder: Path | None) -> list[str]:
    """Return what is wrong with a question; without `folder` its quotes are not looked up."""
    wrong = []
    if list(row) != FIELDS:
        wrong.append("the fields are not those of the format")
    if row["kind"] not in KINDS or row["lang"] not in LANGUAGES or row["corpus"] not in load_corpora():
        wrong.append("unknown kind, language or corpus")
    if (row["kind"] in DECLINED) == bool(row["expect"]):
        wrong.append("expects an answer and is of a kind that has none, or the reverse")
    if row["accept"] and row["kind"] != "unanswerable":
        wrong.append("accept is for unanswerable questions")
    quotes = [join_space(quote) for quote in row["quote"]]
    groups = [group for group in [*row["expect"], row["accept"]] if group]
    wrong += [f"no quote matches {group}" for group in groups if not is_matched(group, quotes)]
    wrong += [
        f"a quote matches {pattern}, which is rejected" for pattern in row["reject"] if is_matched([pattern], quotes)
    ]
    if folder:
        missing = [name for name in row["file"] if not (folder / name).is_file()]
        wrong += [f"no file {name}" for name in missing]
        texts = [read_file(folder / name) for name in row["file"] if name not in missing]
        wrong += [f"not in {row['file']}: {quote}" for quote in quotes if not any(quote in text for text in texts)]
    return wrong


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scratch", type=Path, help="where files are put (default: a folder that is removed)")
    arguments = parser.parse_args()
    problems = 0
    halves: dict[str, list[dict]] = {}
    with tempfile.TemporaryDirectory() as made:
        scratch = arguments.scratch or Path(made)
        folders = {name: find_folder(name, scratch) for name in load_corpora()}
        for name, folder in folders.items():
            if folder is None:
                print(f"not checked, the package is not installed: {name} ({load_corpora()[name]['package']})")
        for half in ("dev", "held"):
            lines = (HERE / f"{half}.jsonl").read_text("utf-8").splitlines()
            halves[half] = [json.loads(line) for line in lines]
            for row in halves[half]:
                for wrong in check_row(row, folders.get(row["corpus"])):
                    problems += 1
                    print(f"{row['id']}: {wrong}")
    rows = [*halves["dev"], *halves["held"]]
    for field in ("id", "question"):
        twice = [value for value, times in Counter((row[field], row["corpus"]) for row in rows).items() if times > 1]
        problems += len(twice)
        print(*(f"twice: {value}" for value in twice), sep="\n", end="")
    for field in ("kind", "lang"):
        counts = {half: Counter(row[field] for row in part) for half, part in halves.items()}
        for value in counts["dev"] | counts["held"]:
            if abs(counts["dev"][value] - counts["held"][value]) > 2:
                problems += 1
                print(f"the halves differ in {value}")
    print(f"{len(halves['dev'])} and {len(halves['held'])} questions, {problems} problems")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
