"""Contract row A10: focus templates of ours and the user's, what they suggest, and what they never replace."""

from pathlib import Path

import pytest

from deep_research.data import Question
from deep_research.errors import ConfigError
from deep_research.runs.research_run import create_run
from deep_research.settings import Settings
from deep_research.templates import choose, load_templates, template_folders
from tests.intake.harness import Judge, finderly, start, with_model

OWN = """
name = "engine"
words = ["engine", "发动机", "엔진"]
focus = { en = ["power", "weight", "price"], zh = ["功率", "重量", "价格"], ko = ["출력", "무게", "가격"] }

[[clarifications]]
missing = "aspect"
question = { en = "Which side of engines?", zh = "发动机的哪个方面？", ko = "엔진의 어떤 면?" }
"""


def _write(folder: Path, text: str, name: str = "engine.toml") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text, "utf-8")
    return folder


def test_a10_three_templates_come_with_the_program_in_three_languages() -> None:
    ours = load_templates()
    assert {t.name for t in ours} == {"drug_target", "technology_survey", "product_comparison"}
    for template in ours:
        points = [template.spoken(language).focus for language in ("en", "zh", "ko")]
        assert all(len(said) >= 3 for said in points)
        assert len(set(points)) == 3
        assert all(c.options for c in template.spoken("zh").clarifications)


@pytest.mark.parametrize(
    ("text", "language", "name"),
    [
        ("KRAS G12C 靶点", "zh", "drug_target"),
        ("GLP-1 agonists", "en", "drug_target"),
        ("GLP-1 작용제", "ko", "drug_target"),
        ("technology survey of solid state batteries", "en", "technology_survey"),
        ("向量数据库选型", "zh", "product_comparison"),
        ("How does RAG work?", "en", None),
        ("corrosion inhibitors in steel", "en", None),
    ],
)
def test_a10_a_template_applies_by_the_words_of_the_question(text: str, language: str, name: str | None) -> None:
    found = choose(load_templates(), Question(text=text, language=language))
    assert (found.name if found else None) == name


def test_a10_files_of_the_user_are_found_in_both_folders_and_come_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    _write(tmp_path / "deep-research-templates", OWN.replace("power", "project"))
    _write(tmp_path / "home" / "templates", OWN)
    _write(tmp_path / "home" / "templates", OWN.replace('"engine"', '"drug_target"', 1), "drug.toml")
    found = load_templates(template_folders(tmp_path / "home"))
    assert [t.name for t in found][:2] == ["engine", "drug_target"]
    assert found[0].spoken("en").focus[0] == "project"
    assert found[1].origin.endswith("drug.toml")
    assert found[0].spoken("ko").focus == ("출력", "무게", "가격")
    assert found[0].spoken("fr").focus[1:] == ("weight", "price")


def test_a10_the_points_of_a_template_are_no_options_for_a_topic(tmp_path: Path) -> None:
    own = OWN.replace('missing = "aspect"', 'missing = "topic"')
    asked = finderly("tell me more", templates=load_templates([_write(tmp_path, own)]), template="engine").clarification
    assert asked is not None
    assert asked.question == "Which side of engines?"
    assert "power" not in asked.options != ()


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("name = ", "TOML"),
        ('name = "x"', "focus"),
        ('name = "x"\nfocus = ["a"]\ncolour = "red"', "colour"),
        ('name = "x"\nfocus = ["a"]\npatterns = ["("]', "regular expression"),
        ('name = "x"\nfocus = ["a"]\n[[clarifications]]\nmissing = "mood"\nquestion = "?"', "missing"),
    ],
)
def test_a10_a_broken_file_names_itself_and_what_is_wrong_and_makes_no_run(text: str, why: str, tmp_path: Path) -> None:
    _write(tmp_path / "templates", text)
    with pytest.raises(ConfigError) as refused:
        create_run("How do engines work?", Settings(), home=tmp_path)
    assert "engine.toml" in refused.value.message
    assert why in refused.value.message
    assert not (tmp_path / "runs").exists()


def test_a10_a_folder_that_somebody_downloaded_brings_no_patterns(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    _write(tmp_path / "deep-research-templates", 'name = "x"\nfocus = ["a"]\npatterns = ["^(\\\\w+\\\\s?)*$"]')
    with pytest.raises(ConfigError, match=r"engine\.toml.*patterns are for templates of the state folder"):
        create_run("How do engines work that were built before the war?", Settings(), home=tmp_path / "home")


def test_a10_an_unknown_name_is_refused_with_those_there_are(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="drug_target"):
        create_run("engines", Settings(template="motor"), home=tmp_path)
    create_run("engines", Settings(template="none"), home=tmp_path)


def test_a10_a_model_is_shown_the_template_as_a_suggestion(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    templates = load_templates([_write(tmp_path, OWN)])
    judge = Judge({"发动机": start("发动机", "功率", "声音", "历史")})
    decision = with_model(monkeypatch, judge, "发动机", templates=templates)
    shown = judge.prompts[0].partition("template suggests")[2]
    assert [point in shown for point in ("功率", "重量", "价格", "发动机的哪个方面？")] == [True] * 4
    assert decision.research_focus == ("功率", "声音", "历史")
