"""Contract row B8: the lengths of what a model writes around the sections are held by code."""

from pathlib import Path
from typing import Any

import pytest

from deep_research.reasoners.model.text_lengths import length_in, within_length
from tests.model.harness import PLAN, research, served, steps
from tests.runs.running import write_notes
from tests.support.scripted_replies import Request
from tests.support.scripted_researcher import ScriptedResearcher


def test_b8_a_text_that_is_far_too_long_ends_at_a_sentence() -> None:
    text = " ".join(f"Engine {n} turns at some speed that was measured once. [s1p{n}]" for n in range(1, 60))
    cut = within_length(text, "answer", "standard", "en")
    assert length_in(cut, "en") <= 200
    assert cut.endswith("]")
    assert text.startswith(cut)
    assert within_length("Short. [s1p1]", "answer", "standard", "en") == "Short. [s1p1]"
    assert length_in("甲型发动机每分钟3000转。[s1p1]", "zh") == 12


def test_b8_an_answer_that_is_far_too_short_is_asked_for_once_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Terse(ScriptedResearcher):
        """Answers in two words the first time."""

        composed = 0

        def _compose(self, request: Request) -> dict[str, Any]:
            self.composed += 1
            made = super()._compose(request)
            return {**made, "answer": "Too short."} if self.composed == 1 else made

    parts = ("piston", "valve", "shaft", "pump", "filter", "bearing", "nozzle", "gasket", "rotor", "frame")
    notes = {
        f"{name.split()[0]}{part}": f"# {name}: {part}\n\nThe {part} of the {name} is made of steel number {n} in a foundry "
        f"of the town of Graz, weighs {n} kg and is changed by two men after every {n} weeks of work at sea.\n"
        for name in PLAN
        for n, part in enumerate(parts, 11)
    }
    docs = write_notes(tmp_path / "long", **notes)
    with served(monkeypatch, Terse(sections=PLAN, sentences=10, slips=False)) as provider:
        report = research(tmp_path, docs=[docs], depth="brief", search_results=20).report
    assert sum(length_in(section.content, "en") for section in report.sections) > 240
    assert steps(provider)["compose"] == 2
    assert "Too short." not in report.report
