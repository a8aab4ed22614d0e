"""The report is written in one go from the sections that were researched, and all of it is checked."""

from pathlib import Path
from typing import Any

import pytest

from deep_research.verification.citations import cite_ids, cut_cited
from tests.model.harness import ENGINES, PLAN, research, served
from tests.support.scripted_replies import Reply, Request, instance_of
from tests.support.scripted_researcher import ScriptedResearcher, passages_in, schema_of, step_of

TITLE = "Two engines beside each other"
FALSE = "Both engines weigh 9999 kg"
LIMIT = "How loud the Alpha engine is when it runs without oil is not in the sources."


class Writer:
    """Joins the first two of three sections in one text, and leaves the third as it is."""

    def __init__(self) -> None:
        self._play = ScriptedResearcher(sections=PLAN, sentences=4)
        self.answer = ""

    def __call__(self, request: Request) -> Reply:
        """Return the answer to a request."""
        if step_of(request) != "compose":
            return self._play(request)
        shown = passages_in(request)
        told = [f"{_first(passage.text)} [{passage.id}]" for passage in shown[:4]]
        body = {
            "title": f"{TITLE}: 9999 kg",
            "notes": list(ENGINES[:2]),
            "content": f"{' '.join(told)} {FALSE}. [{shown[0].id}] → So an engine is chosen by where it runs.",
        }
        # The answer repeats, word for word, what a section says whose place the body takes, and the body does not.
        notes = (
            request["messages"][-1]["text"].partition(f'<section title="{ENGINES[1]}">')[2].partition("</section>")[0]
        )
        retold = {_first(passage.text) for passage in shown[:4]}
        repeated = next(s for s in cut_cited(notes, 0, "prose") if s.passages and s.text not in retold)
        self.answer = repeated.text
        data: dict[str, Any] = {
            "answer": f"{repeated.text} {cite_ids(repeated.passages)}",
            "sections": [body],
            "table": "",
            "advice": [],
            "conclusion": "",
            "limits": [{"text": LIMIT, "searched": list(PLAN[ENGINES[0]])}],
        }
        return Reply(data={**instance_of(schema_of(request) or {}), **data})


def _first(text: str) -> str:
    return next(line for line in text.splitlines() if line.endswith(".")).split(". ")[0].rstrip(".") + "."


def test_sections_that_were_researched_apart_become_one_text_that_is_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    writer = Writer()
    with served(monkeypatch, writer):
        report = research(tmp_path).report
    assert [section.title for section in report.sections] == [TITLE, ENGINES[2]]
    assert f"## {ENGINES[0]}" not in report.report
    assert FALSE not in report.report
    (wrong,) = [claim for claim in report.claims if claim.text.startswith(FALSE)]
    assert (wrong.section, wrong.stands) == (TITLE, False)
    assert "→ So an engine is chosen by where it runs." in report.sections[0].content
    assert {claim.section for claim in report.claims} == {"", TITLE, ENGINES[2]}
    assert writer.answer in {claim.text for claim in report.claims if claim.stands}
    assert report.sections[0].key_findings
    assert set(report.sections[0].sources) <= set(report.sources)
