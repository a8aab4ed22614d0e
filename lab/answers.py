"""Ask the questions of `answers/` as a user would, and check the answers shown.

No model is used. The figures say whether the right answer stands where the reader sees it first.

    python lab/answers.py [--split dev|held] [--only howto,zh,dev-001] [--limit N] [--out FILE] [--baseline]

Each question is put to `python -m deep_research ask … --docs FOLDER --json` in a process of its own; each corpus has a
state folder of its own, and its first question is asked twice, so that times are those of a known index. `--baseline`
shows the best three of BM25 over paragraphs instead. Packages to install first: `answers/corpora.toml`; what is missing
is left out and named. Of the half `held` nothing but the figures is shown, for nobody may tune on it.

answered: every part of the answer stands within the first 1,200 characters of the answer's own text (`answered_500`:
500). among_five: they stand in the best stretch and the next four places of each part. cited: within the answer or the passages that it cites. partial: share of the parts. handled (unanswerable, vague):
exit code 3 or 4, said in words, or the premise corrected. wrongly_refused: exit code 3 or 4 although there is an answer.
misleading: it opens with the value of something else. `cpu` is processor time, which other work on the machine
disturbs less. The last line is one JSON object.
"""

import argparse
import json
import math
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
import tomllib
from collections import Counter, defaultdict
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

HERE = Path(__file__).resolve().parent / "answers"
sys.path.insert(0, str(HERE))

from corpora import find_folder, join_space, list_files, load_corpora, read_paragraphs  # noqa: E402

WINDOW = 1200  # characters of an answer that are read
GLANCE = 500  # characters that are read at a glance
PLACES = 5  # of each part, that are looked at
OPENING = 300  # where a wrong value misleads most
REFUSALS = frozenset({3, 4})  # exit codes: nothing found, asked back
TIMED_OUT = 124
REPORT = tomllib.loads((HERE / "report.toml").read_text("utf-8"))
END = re.compile(rf"^#+ ({'|'.join(map(re.escape, REPORT['ends']))})\s*$", re.M)
ANSWER_HEADING = re.compile(rf"\A## ({'|'.join(REPORT['answer_headings'])})\s*")
PLACES_BELOW = re.compile(rf"^\*\*(?:{'|'.join(REPORT['place_labels'])})\*\*\n\n", re.M)
QUESTION = re.compile(rf"\*\*({'|'.join(REPORT['question_labels'])})\W")
DECLINES = re.compile("|".join(REPORT["declines"]))


class Reply(NamedTuple):
    """The reply of one process: exit code, answer, report, wall and CPU seconds.

    The report has all passages; `first` is the text of the first five places of each part.
    """

    code: int
    answer: str
    cited: str
    seconds: float
    cpu: float
    first: str = ""


def first_places(result: dict) -> str:
    """Return the texts of the first five places of each part, from the section notes.

    The first is the best stretch, the other four follow in order.

    A list of places ends at the first empty line; numbered steps of a stretch are none.
    """
    passages = result.get("passages", {})
    found: list[str] = []
    for section in result.get("sections", ()):
        stretch, *lists = PLACES_BELOW.split(section.get("notes", ""))
        found.append(stretch)
        for listed, _, stretch in (text.partition("\n\n") for text in lists):
            ids = re.findall(r"\[(s\d+p\d+)\]$", listed, re.M)[: PLACES - 1]
            found += [*(passages.get(key, {}).get("text", "") for key in ids), stretch]
    return "\n".join(found)


def cut_answer(report: str) -> str:
    """Return the answer text of a report, without title, notes and references."""
    end = END.search(report)
    lines = (report[: end.start()] if end else report).split("\n")
    while lines and (not lines[0].strip() or lines[0].startswith(("# ", ">")) or QUESTION.match(lines[0])):
        lines.pop(0)
    return ANSWER_HEADING.sub("", "\n".join(lines).strip())


def read_cpu() -> float:
    """Return the processor time of all finished child processes in seconds."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


class Program:
    """The command line, with a state folder for each corpus."""

    name = "ask"

    def __init__(self, scratch: Path, timeout: float) -> None:
        self.scratch = scratch
        self.timeout = timeout
        self.warm: set[str] = set()

    def ask(self, corpus: str, folder: Path, question: str) -> Reply:
        """Ask about `folder`; the first time twice, so that its index is known."""
        if corpus not in self.warm:
            self.warm.add(corpus)
            self.ask(corpus, folder, question)
        command = [sys.executable, "-m", "deep_research", "ask", question, "--docs", str(folder), "--json", "--quiet"]
        environment = dict(os.environ, DEEP_RESEARCH_HOME=str(self.scratch / "state" / corpus))
        began, used = time.monotonic(), read_cpu()
        try:
            done = subprocess.run(
                [*command, "--provider", "finder"],
                env=environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                timeout=self.timeout,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return Reply(TIMED_OUT, "", "", time.monotonic() - began, read_cpu() - used)
        seconds, cpu = time.monotonic() - began, read_cpu() - used
        try:
            result = json.loads(done.stdout)
        except ValueError:
            result = {}
        report = result.get("report", "")
        passages = (passage.get("text", "") for passage in result.get("passages", {}).values())
        shown = join_space("\n".join([report, *passages]))
        first = join_space(first_places(result))
        return Reply(done.returncode, join_space(cut_answer(report)), shown, seconds, cpu, first)


def split_words(text: str) -> list[str]:
    """Return words; of Chinese, Japanese and Korean pairs of characters."""
    out: list[str] = []
    for run in re.findall(r"[a-z0-9_]+|[\u3040-\u30ff\u3400-\u9fff]+|[\uac00-\ud7a3]+", text.lower()):
        out += [run] if run.isascii() or len(run) == 1 else ["".join(pair) for pair in pairwise(run)]
    return out


class PlainSearch:
    """BM25 (k1 1.2, b 0.75) over paragraphs; the best three are the answer.

    Neighbouring paragraphs are joined up to 400 characters.
    """

    name = "plain search"

    def __init__(self) -> None:
        self.corpus = ""

    def read(self, folder: Path) -> None:
        """Index all paragraphs below `folder`."""
        self.pieces: list[str] = []
        self.postings: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for path in list_files(folder):
            piece = ""
            for paragraph in read_paragraphs(path):
                if piece and len(piece) + len(paragraph) >= 400:
                    self.pieces.append(piece)
                    piece = ""
                piece = f"{piece}\n{paragraph}".strip()
            self.pieces += [piece] if piece else []
        self.pieces = list(dict.fromkeys(self.pieces))
        self.lengths = []
        for number, piece in enumerate(self.pieces):
            words = Counter(split_words(piece))
            self.lengths.append(words.total())
            for word, times in words.items():
                self.postings[word].append((number, times))

    def ask(self, corpus: str, folder: Path, question: str) -> Reply:
        """Show the best three pieces."""
        if corpus != self.corpus:
            self.read(folder)
            self.corpus = corpus
        began, used = time.monotonic(), time.process_time()
        scores: dict[int, float] = defaultdict(float)
        mean, total = statistics.fmean(self.lengths), len(self.pieces)
        for word in set(split_words(question)):
            hits = self.postings.get(word, [])
            if len(hits) > 0.3 * total:
                continue
            rarity = math.log(1 + (total - len(hits) + 0.5) / (len(hits) + 0.5))
            for number, times in hits:
                scores[number] += rarity * times * 2.2 / (times + 1.2 * (0.25 + 0.75 * self.lengths[number] / mean))
        best = sorted(scores, key=lambda number: -scores[number])[:3]
        answer = join_space("\n".join(self.pieces[number][:1000] for number in best))
        return Reply(0, answer, answer, time.monotonic() - began, time.process_time() - used)


def find_first(patterns: list[str], text: str) -> int | None:
    """Return where the first match of any pattern begins."""
    found = [match.start() for pattern in patterns if (match := re.search(pattern, text, re.I))]
    return min(found, default=None)


def judge_reply(row: dict, reply: Reply) -> dict:
    """Return the marks of one reply."""
    marks = {key: row[key] for key in ("id", "lang", "kind", "corpus", "question")}
    marks |= {"exit": reply.code, "seconds": round(reply.seconds, 2), "cpu": round(reply.cpu, 2)}
    marks["characters"] = len(reply.answer)
    marks["misleading"] = find_first(row["reject"], reply.answer[:OPENING]) is not None
    if not row["expect"]:
        said = bool(DECLINES.search(reply.answer[:OPENING])) or (not reply.answer and reply.code in {0, *REFUSALS})
        corrected = find_first(row["accept"], reply.answer[:WINDOW]) is not None
        return {**marks, "handled": reply.code in REFUSALS or said or corrected, "answer": reply.answer}
    places = [find_first(group, reply.answer) for group in row["expect"]]
    near = [place for place in places if place is not None and place < WINDOW]
    return {
        **marks,
        "answered": len(near) == len(places),
        "glance": len([place for place in near if place < GLANCE]) == len(places),
        "cited": all(find_first(group, f"{reply.answer} {reply.cited}") is not None for group in row["expect"]),
        "five": all(find_first(group, reply.first) is not None for group in row["expect"]),
        "partial": len(near) / len(places),
        "refused": reply.code in REFUSALS,
        "answer": reply.answer,
    }


def count_figures(rows: list[dict]) -> dict:
    """Return the figures of a group of marked replies."""
    answerable = [row for row in rows if "answered" in row]
    others = [row for row in rows if "handled" in row]
    figures: dict[str, float | int] = {"questions": len(rows)}
    names = {
        "answered": "answered",
        "answered_500": "glance",
        "among_five": "five",
        "cited": "cited",
        "partial": "partial",
    }
    for name, mark in {**names, "wrongly_refused": "refused"}.items():
        if answerable:
            figures[name] = round(statistics.fmean(row[mark] for row in answerable), 3)
    if others:
        figures["handled"] = round(statistics.fmean(row["handled"] for row in others), 3)
    figures["misleading"] = sum(row["misleading"] for row in rows)
    for name in ("seconds", "cpu"):
        figures[f"{name}_median"] = round(statistics.median(row[name] for row in rows), 2)
    return figures


def choose_rows(split: str, only: str, limit: int | None) -> list[dict]:
    """Return the questions to ask, those of a corpus together."""
    rows = [json.loads(line) for line in (HERE / f"{split}.jsonl").read_text("utf-8").splitlines()]
    if only:
        wanted = set(only.split(","))
        rows = [row for row in rows if wanted & {row["kind"], row["lang"], row["corpus"], row["id"]}]
    if limit and limit < len(rows):
        rows = [rows[number * len(rows) // limit] for number in range(limit)]
    return sorted(rows, key=lambda row: row["corpus"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--split", choices=("dev", "held"), default="dev")
    parser.add_argument("--only", default="", help="these kinds, languages, corpora or ids, comma-separated")
    parser.add_argument("--limit", type=int, help="so many questions, spread over the file")
    parser.add_argument("--out", type=Path, help="write each marked answer there (JSON Lines); not for held")
    parser.add_argument("--baseline", action="store_true", help="plain search instead of the program")
    parser.add_argument("--scratch", type=Path, help="keep indexes there (default: a folder that is removed)")
    parser.add_argument("--timeout", type=float, default=300, help="seconds for one question")
    arguments = parser.parse_args()
    held = arguments.split == "held"
    if held and (arguments.out or arguments.only or arguments.limit):
        parser.error("of the half held only the figures of the whole are shown")
    marked: list[dict] = []
    with tempfile.TemporaryDirectory() as made:
        scratch = arguments.scratch or Path(made)
        system = PlainSearch() if arguments.baseline else Program(scratch, arguments.timeout)
        rows = choose_rows(arguments.split, arguments.only, arguments.limit)
        folders = {name: find_folder(name, scratch) for name in sorted({row["corpus"] for row in rows})}
        missing = [name for name, folder in folders.items() if folder is None]
        for name in missing:
            print(f"left out, the package is not installed: {name} ({load_corpora()[name]['package']})")
        for row in rows:
            folder = folders[row["corpus"]]
            if folder is None:
                continue
            marks = judge_reply(row, system.ask(row["corpus"], folder, row["question"]))
            marked.append(marks)
            if not held:
                good = marks.get("answered", marks.get("handled"))
                outcome = "yes" if good else f"{marks['partial']:.0%}" if "partial" in marks else "not handled"
                exit_ = f"exit {marks['exit']} {marks['seconds']:5.1f} s"
                print(
                    f"{row['id']} {row['lang']} {row['kind']:<12} {outcome:<11} {exit_}  {row['question']}", flush=True
                )
    if arguments.out:
        lines = (json.dumps(marks, ensure_ascii=False) for marks in marked)
        arguments.out.write_text("".join(f"{line}\n" for line in lines), "utf-8")
    if not marked:
        parser.error("no question is left")
    figures = {"split": arguments.split, "system": system.name, "left_out": missing, **count_figures(marked)}
    for name in ("kind", "lang", "corpus"):
        groups: dict[str, list[dict]] = defaultdict(list)
        for marks in marked:
            groups[marks[name]].append(marks)
        figures[f"by_{name}"] = {key: count_figures(group) for key, group in sorted(groups.items())}
    print(json.dumps(figures, ensure_ascii=False))


if __name__ == "__main__":
    main()
