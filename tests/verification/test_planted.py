"""Faults planted in six reports in three languages: code finds every wrong number, quotation and id, and little else."""

import tomllib
from pathlib import Path
from typing import Any

import pytest

from deep_research.verification.statement_flags import Flag, flags_of
from deep_research.verification.statements import Statement, split_statements

FOLDER = Path(__file__).with_name("planted")
REPORTS = {file.stem: tomllib.loads(file.read_text("utf-8")) for file in sorted(FOLDER.glob("*.toml"))}
FAULTS = [(name, number) for name, report in REPORTS.items() for number in range(len(report["fault"]))]


def _flagged(report: dict[str, Any], text: str) -> list[tuple[Statement, list[Flag]]]:
    passages = report["passages"]
    return [
        (one, flags_of(one.text, {key: passages.get(key) for key in one.passages}, report["question"]))
        for one in split_statements(text)
    ]


def _is_planted(report: dict[str, Any], text: str) -> bool:
    """Tell whether a stretch is one of the faults that stand in the report as it is."""
    return any(fault["old"] == fault["new"] and fault["old"] in text for fault in report["fault"])


@pytest.mark.parametrize(("name", "number"), FAULTS)
def test_a_planted_fault_is_found(name: str, number: int) -> None:
    report = REPORTS[name]
    fault = report["fault"][number]
    assert report["text"].count(fault["old"]) == 1
    text = report["text"].replace(fault["old"], fault["new"])
    before = {(s.start, f.quote) for s, flags in _flagged(report, report["text"]) for f in flags}
    place = text.index(fault["new"])
    end = place + len(fault["new"])
    found = [f for s, flags in _flagged(report, text) if s.start < end and s.end > place for f in flags]
    assert fault["kind"] in {flag.kind for flag in found}
    assert fault["old"] == fault["new"] or {flag.quote for flag in found} - {quote for _start, quote in before}
    assert all(flag.quote in flag.said or "…" in flag.said for flag in found)


def test_sound_statements_are_left_alone() -> None:
    sound, disputed = 0, []
    for report in REPORTS.values():
        for statement, flags in _flagged(report, report["text"]):
            if statement.passages and not _is_planted(report, statement.text):
                sound += 1
                disputed += [(statement.text, flag.said) for flag in flags]
    assert sound >= 60
    assert disputed == []


def test_there_are_sixty_faults_in_three_languages() -> None:
    assert len(FAULTS) >= 60
    assert {name[:2] for name, _number in FAULTS} == {"en", "zh", "ko"}
