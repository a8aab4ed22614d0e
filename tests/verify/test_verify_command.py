"""`deep-research verify` as people use it: every format, links that are dead, exit codes, what code finds by itself."""

import asyncio
import io
import json
import sys
from pathlib import Path
from typing import Any

import docx
import pytest
from lxml import html as html_tree

from deep_research import api
from deep_research.cli.main import run as command
from deep_research.data import GivenReport
from deep_research.settings import Settings
from deep_research.stores.run_folder import list_runs
from tests.model.harness import playing, served
from tests.readers.pdf_files import make_pdf
from tests.runs.running import engines
from tests.support.fake_web import FakeWeb
from tests.support.scripted_replies import Reply, Request
from tests.support.scripted_researcher import ScriptedResearcher
from tests.verify.reports import html, markdown, page, printed, word

MODEL = ["-p", "compatible", "--model", "scripted", "--set", "sources="]


def opened(web: FakeWeb) -> list[str]:
    return ["--set", f"allowed_internal_hosts=127.0.0.1:{web.port}", "--set", "model_timeout_seconds=5"]


def verified(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, dict[str, Any]]:
    code = command(["verify", *arguments, "--json", "--quiet"])
    shown = capsys.readouterr()
    return code, json.loads(shown.out) if shown.out else {"error": shown.err}


def problems(report: dict[str, Any]) -> dict[str, str]:
    return {problem["quote"]: problem["problem"] for problem in report["problems"]}


def test_without_a_model_code_finds_what_it_is_sure_of(
    tmp_path: Path, own_state: Path, web: tuple[FakeWeb, str], capsys: pytest.CaptureFixture[str]
) -> None:
    nearly = 'Its maker says "it runs without any oil, which makes it cheap to keep".'
    (tmp_path / "r.md").write_text(f"{markdown(web[1])}\n# More\n\n{nearly} {web[1]}/alpha\n", "utf-8")
    code, report = verified(capsys, str(tmp_path / "r.md"), "-p", "finder", *opened(web[0]))
    assert code == 1
    found = problems(report)
    assert sorted(problem["quote"] for problem in report["problems"]) == [
        nearly,
        'One expert says it is "the best engine that was ever built".',
        "The Alpha engine turns at 3,500 rpm.",
    ]
    assert "3,500" in found["The Alpha engine turns at 3,500 rpm."]
    verdicts = {claim["text"]: claim["verdict"]["reason"] for claim in report["claims"]}
    assert "404" in verdicts["Both are sold in Peru."]
    assert [gap["what"] for gap in report["gaps"]] == [f"{web[1]}/gone"]
    assert "sold in Peru [3]°." in report["report"]
    assert "judged by nobody" in report["report"]
    assert all(snapshot["sha256"] for snapshot in report["sources"].values())
    assert web[0].count("engines.test", "/alpha") == 1
    for claim in report["claims"]:
        assert claim["text"].split()[0] in report["report"][claim["start"] : claim["end"]]
    run = list_runs(own_state)[0].run_id
    assert command(["resume", run, "--quiet"]) == code  # as the command that began it
    assert command(["replay", run]) == 0
    assert "no call outside its journal" in capsys.readouterr().err
    assert command(["verify", "--run", run, "-p", "finder", *opened(web[0]), "--quiet"]) == 1


@pytest.mark.parametrize("kind", ["html", "docx", "pdf"])
def test_links_of_pages_and_documents_at_an_address_or_from_standard_input_are_followed(
    kind: str, web: tuple[FakeWeb, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    site = web[0].site("engines.test").page("/report", html(web[1]))
    site.page("/download", printed(web[1]), "application/octet-stream")  # its bytes say what it is
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(word(web[1]))))
    given = {"html": f"{web[1]}/report", "pdf": f"{web[1]}/download", "docx": "-"}[kind]
    _, report = verified(capsys, given, "-p", "finder", *opened(web[0]))
    assert list(problems(report)) == ["The Alpha engine turns at 3,500 rpm."]
    cited = {claim["text"]: claim["passages"] for claim in report["claims"]}
    beta = next(text for text in cited if text.startswith("The Beta engine weighs"))
    assert cited[beta]
    assert {source["url"] for source in report["sources"].values()} == {f"{web[1]}/alpha", f"{web[1]}/beta"}
    if kind == "docx":
        assert {p.partition("p")[0] for p in cited["It was built in 2004 in Bergen."]} == {
            key for key, source in report["sources"].items() if source["url"] == f"{web[1]}/beta"
        }
    if kind == "html":
        assert "It needs 5 m² of room." in cited
        assert not cited["It needs 5 m² of room."]
        assert "fetch(" not in report["report"]


def test_raised_digits_of_a_pdf_cite_and_change_no_year(
    tmp_path: Path, web: tuple[FakeWeb, str], capsys: pytest.CaptureFixture[str]
) -> None:
    lines = [("The Beta engine was built in 2004", 72, 700, 11), ("1", 236, 705, 6), ("in Bergen.", 242, 700, 11)]
    listed = [("References", 72, 660, 11), (f"1. {web[1]}/beta", 72, 640, 11), (f"2. {web[1]}/alpha", 72, 620, 11)]
    (tmp_path / "r.pdf").write_bytes(make_pdf([[("Engines", 72, 790, 20), *lines, *listed]]))
    code, report = verified(capsys, str(tmp_path / "r.pdf"), "-p", "finder", *opened(web[0]))
    assert (code, [claim["text"] for claim in report["claims"]]) == (
        1,
        ["The Beta engine was built in 2004 in Bergen."],
    )
    assert [source["url"] for source in report["sources"].values()] == [f"{web[1]}/beta"]
    assert not report["problems"]


def test_a_number_that_leads_to_a_note_of_its_page_is_raised(
    tmp_path: Path, web: tuple[FakeWeb, str], capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "r.html").write_text(
        page(
            "Engines",
            "<p>The Alpha engine turns at <b>3,500 rpm</b>.<a href='#n1' id='b1'>1</a> The Beta engine weighs 85 kg"
            ' [<a href="#n2">2</a>–<a href="#n2">2</a>]. Table <a href="#t1">1</a> has more.</p>'
            f"<h2>Notes</h2><ol><li id=n1>{web[1]}/alpha <a href='#b1'>↩</a></li><li id=n2>{web[1]}/beta</li></ol>",
        )
    )
    _, report = verified(capsys, str(tmp_path / "r.html"), "-p", "finder", *opened(web[0]))
    urls = {key: source["url"].removeprefix(web[1]) for key, source in report["sources"].items()}
    assert {claim["text"]: {urls[p.partition("p")[0]] for p in claim["passages"]} for claim in report["claims"]} == {
        "The Alpha engine turns at 3,500 rpm.": {"/alpha"},
        "The Beta engine weighs 85 kg.": {"/beta"},
        "Table 1 has more.": set(),
    }


def test_what_a_citation_without_an_address_says_is_not_confirmed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "r.md").write_text(
        "# R\n\nBeta weighs 85 kg [1]. It is old [9]. It turns【4:2†beta.html】.\n\n## Sources\n\n[1] Handbook, p. 5\n"
    )
    code, report = verified(capsys, str(tmp_path / "r.md"), "-p", "finder", "--set", "sources=")
    assert (code, [claim["verdict"]["kind"] for claim in report["claims"]]) == (1, ["unverified"] * 3)
    reasons = [claim["verdict"]["reason"].partition(": ")[2] for claim in report["claims"]]
    assert reasons == ["Its entry gives no web address.", *["The report has no entry for it."] * 2]
    assert [gap["what"] for gap in report["gaps"]] == ["Handbook, p. 5", "[9]", "[4:2] beta.html"]
    assert "1. **Handbook, p. 5**\n2. **[9]**\n" in report["report"]


def test_all_that_could_not_be_read_is_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], own_state: Path
) -> None:
    lines = [f"The engine number {n} is old ([page](http://10.0.0.{n}/))." for n in range(60)]
    (tmp_path / "r.md").write_text("# Engines\n\n" + "\n\n".join(lines))
    assert command(["verify", str(tmp_path / "r.md"), "-p", "finder", "--quiet"]) == 1
    shown = " ".join(capsys.readouterr().out.split())
    assert "could not be read or done (60):" in shown
    assert f"… and 20 more; all: deep-research show {list_runs(own_state)[0].run_id} --json" in shown


def test_without_a_model_what_stands_anywhere_in_the_cited_documents_is_no_fault_and_citations_keep_their_count(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    docs = tmp_path / "docs"
    docs.mkdir()
    filler = "\n\n".join(f"## Part {n}\n\nThe office has rules for everything. " * 4 for n in "ABCDEF")
    (docs / "handbook.md").write_text(
        f"# Staff handbook\n\nThe week has 38 hours.\n\n{filler}\n\n## Pension\n\nThe fund was changed in 2021.\n",
        "utf-8",
    )
    (docs / "security.md").write_text("# Security rules\n\nPasswords of the week have 14 characters.\n", "utf-8")
    (docs / "other.md").write_text("# Canteen\n\nThe week has 5 dishes, and 99 in 2021.\n", "utf-8")
    (tmp_path / "r.md").write_text(
        "# Rules\n\nThe week has 38 hours, and another rule is from 2021 [1]. Passwords have 14 characters [2], and the "
        "week 38 hours [1]. A week has 99 hours [1][2].\n\n## Sources\n\n[1] Staff handbook\n[2] security.md\n"
    )
    code, report = verified(capsys, str(tmp_path / "r.md"), "-p", "finder", "--docs", str(docs))
    assert code == 1
    assert problems(report) == {"A week has 99 hours.": "the number 99 hours is in none of the cited sources"}
    text = report["report"].replace("°", "")
    assert (
        "from 2021 [1]. Passwords have 14 characters [2], and the week 38 hours [1]. A week has 99 hours [1][2]."
        in text
    )


def test_the_mark_of_what_is_not_confirmed_stands_behind_a_citation_also_in_tables_of_exports(
    tmp_path: Path, own_state: Path
) -> None:
    (tmp_path / "r.md").write_text(
        "# Engines\n\n| What | Said |\n| --- | --- |\n| Alpha | 3,500 rpm [1] |\n| Beta [2] | 86 kg |\n\n"
        "The Alpha engine [1] turns at 3,600 rpm.\n\n## Sources\n\n[1] alpha.md\n[2] beta.md\n"
    )
    docs, out = str(engines(tmp_path / "docs")), tmp_path / "r.html"
    given = ["verify", str(tmp_path / "r.md"), "-p", "finder", "--docs", docs, "--quiet"]
    assert command([*given, "--to", "html", "-o", str(out)]) == 1
    page = html_tree.fromstring(out.read_bytes())
    rows = [" ".join(row.text_content().split()) for row in page.xpath("//main//tr[td]")]
    assert {"Alpha3,500 rpm1°", "Beta2°86 kg"} <= set(rows)
    assert page.xpath("//td/span[contains(@class, 'doubt')]/@title")
    run = list_runs(own_state)[0].run_id
    text = api.export(run, "markdown").decode()
    assert "| Alpha | 3,500 rpm [1]° |\n| Beta [2]° | 86 kg |" in text
    assert "The Alpha engine [1]° turns" in text
    cells = [
        cell.text for row in docx.Document(io.BytesIO(api.export(run, "docx"))).tables[0].rows for cell in row.cells
    ]
    assert [cell for cell in cells if "°" in cell] == ["3,500 rpm°", "Beta°"]


def test_a_report_that_cites_nothing_and_one_that_its_documents_know_nothing_of_are_not_called_confirmed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "r.md").write_text("# Engines\n\nThe Alpha engine turns at 3,000 rpm.\n")
    assert command(["verify", str(tmp_path / "r.md"), "-p", "finder", "--set", "sources="]) == 3
    assert "Nothing was checked" in capsys.readouterr().err
    (tmp_path / "r.md").write_text("# Xylo\n\nQuokkas hibernate.\n")
    docs = str(engines(tmp_path / "docs"))
    assert command(["verify", str(tmp_path / "r.md"), "-p", "finder", "--docs", docs, "--quiet"]) == 3
    shown = capsys.readouterr().err
    assert "nothing in the given documents" in shown
    assert "give --docs" not in shown


def test_a_model_judges_and_puts_right(
    tmp_path: Path, web: tuple[FakeWeb, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "r.md").write_text(markdown(web[1]), "utf-8")
    flags = [str(tmp_path / "r.md"), *MODEL, *opened(web[0])]
    with served(monkeypatch, ScriptedResearcher()):
        code, report = verified(capsys, *flags)
        assert code == 1
        assert report["reasoner"]["kind"] == "model"
        assert "Language model: scripted" in report["report"]
        assert "written by" not in report["report"]
        assert report["gaps"][0]["what"] == f"{web[1]}/gone"
        kinds = {claim["text"]: claim["verdict"]["kind"] for claim in report["claims"]}
        assert kinds["The Beta engine weighs 85 kg."] == "supported"
        assert kinds['One expert says it is "the best engine that was ever built".'] == "unverified"
        assert command(["verify", *flags, "--fix", "--quiet"]) == 1
    shown = capsys.readouterr()
    assert shown.out.startswith("# Engines compared")
    assert "best engine that was ever built" not in shown.out.partition("## What")[0]
    assert "4 statements cite sources" in shown.err
    assert "--- given\n+++ fixed\n@@ -1,6 +1,6 @@\n # Engines compared\n" in shown.err
    assert '\n-One expert says it is "the best engine that was ever built" [1].\n' in shown.err


def test_a_dead_link_is_looked_for_by_a_name_alone_and_pages_are_counted_as_they_open(
    tmp_path: Path, web: tuple[FakeWeb, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f"# A\n\nAlpha turns [x]({web[1]}/x). Beta turns [Beta]({web[1]}/beta).\n"
    (tmp_path / "r.md").write_text(text, "utf-8")
    flags = ["verify", str(tmp_path / "r.md"), *MODEL, *opened(web[0])]
    with served(monkeypatch, ScriptedResearcher()):
        assert command(flags) == 1
    shown = capsys.readouterr()
    assert shown.out.count("\n- ") == 1
    assert [f"pages opened: {n} of 2" in shown.err for n in (1, 2)] == [True, True]


def test_two_reports_are_compared_over_one_library(
    tmp_path: Path, web: tuple[FakeWeb, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "a.md").write_text(
        f"# First\n\nThe Alpha engine turns at 3,000 rpm [1].\n\n## Sources\n\n1. {web[1]}/alpha\n"
    )
    (tmp_path / "b.md").write_text(
        f"# Second\n\n## Speed\n\nThe Alpha engine turns at 3,500 rpm ([page]({web[1]}/alpha)).\n"
    )
    both = [str(tmp_path / "a.md"), str(tmp_path / "b.md")]
    said = {
        "first": "The Alpha engine turns at 3,000 rpm.",
        "second": "The Alpha engine turns at 3,500 rpm.",
        "borne_out": "A",
        "why": "Its page says 3,000.",
        "passages": ["s1p1", "s9p9"],
    }
    plain = ScriptedResearcher()

    def script(request: Any) -> Any:
        if "disagreements" in (request["schema"] or {}).get("properties", {}):
            assert '<report name="B">' in request["messages"][-1]["text"]
            return {"disagreements": [said | {"second": "A quotation that nobody has written"}, said]}
        return plain(request)

    with served(monkeypatch, script):
        _, report = verified(capsys, *both, *MODEL, *opened(web[0]))
    (one,) = report["disagreements"]
    assert (one["borne_out"], one["passages"]) == ("first", ["s1p1"])
    assert "The sources bear out A." in report["report"]
    assert {claim["where"] for claim in report["claims"]} == {"A: First", "B: Speed"}
    assert "\n#### B: Speed\n" in report["report"]
    assert web[0].count("engines.test", "/alpha") == 1
    _, report = verified(capsys, *both, "-p", "finder", *opened(web[0]))
    assert not report["disagreements"]
    assert "Only a model compares" in report["gaps"][0]["why"]


def test_wrong_usage_is_one_line_and_begins_no_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], own_state: Path
) -> None:
    (tmp_path / "r.md").write_text("# A\n\nB [1].\n")
    (tmp_path / "empty.md").write_text(" \n")
    (tmp_path / "noise.md").write_bytes(bytes(range(1, 32)) * 50)
    (tmp_path / "broken.docx").write_bytes(word("http://a.example")[:2_000])
    report, broken = str(tmp_path / "r.md"), str(tmp_path / "broken.docx")
    for arguments, said in (
        ([], "Give one FILE"),
        (["x", "y", "z"], "Give one FILE"),
        ([str(tmp_path / "none.md")], "Cannot read"),
        ([str(tmp_path / "empty.md")], "empty"),
        ([str(tmp_path / "noise.md")], "no text"),
        ([report, "--to", "papyrus"], "Formats: "),
        ([report, "--fix", "-p", "finder"], "Only a model"),
        ([report, "-o", "/nowhere/x.md"], "does not exist"),
        (["http://127.0.0.1/report"], "no public address"),
        ([broken], "broken.docx"),
    ):
        assert command(["verify", *arguments, "--quiet"]) in (1, 2)
        shown = capsys.readouterr()
        assert [line.startswith("Error: ") for line in shown.err.splitlines() if said in line] == [True]
        assert not shown.out
    assert not list_runs(own_state)
    assert command(["verify", report, "-p", "finder", "--docs", broken, "--quiet"]) == 2
    (told,) = [line for line in capsys.readouterr().err.splitlines() if "broken.docx" in line]
    assert told.startswith("Error: ")
    assert ".xlsx" not in told


def test_an_estimate_begins_no_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, own_state: Path
) -> None:
    (tmp_path / "r.md").write_text(markdown("http://a.example"), "utf-8")
    with served(monkeypatch) as provider:
        assert command(["verify", str(tmp_path / "r.md"), *MODEL, "--estimate"]) == 0
        assert not provider.calls
    assert "prompt tokens" in capsys.readouterr().out
    assert command(["verify", str(tmp_path / "r.md"), "-p", "finder", "--estimate"]) == 0
    assert "costs nothing" in capsys.readouterr().out
    assert not list_runs(own_state)


def test_a_budget_ends_a_verification_and_leaves_what_was_not_judged_unconfirmed(
    tmp_path: Path, web: tuple[FakeWeb, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = [f"The Beta engine was built in 2004 by Anna Holm in Bergen, as note {n} says [1]." for n in range(400)]
    text = "# Beta\n\n" + "\n\n".join(lines) + f"\n\n## Sources\n\n1. {web[1]}/beta\n"
    (tmp_path / "r.md").write_text(text, "utf-8")
    with served(monkeypatch, ScriptedResearcher()):
        budget = ["--budget", "8000 tokens"]
        code, report = verified(capsys, str(tmp_path / "r.md"), *MODEL, *budget, *opened(web[0]))
    assert code == 1
    assert any("budget of 8000 tokens" in gap["why"] for gap in report["gaps"])
    assert {claim["verdict"]["kind"] for claim in report["claims"]} >= {"unverified"}
    assert report["ledger"]["prompt_tokens"] < 30_000


def test_the_judge_sees_a_citation_that_the_sentence_speaks_of(
    tmp_path: Path, web: tuple[FakeWeb, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    text = f"# Engines\n\nRe-check [1] and [2] before you buy.\n\n## Sources\n\n[1] {web[1]}/alpha\n[2] {web[1]}/beta\n"
    (tmp_path / "r.md").write_text(text, "utf-8")
    asked: list[str] = []

    def judge(request: Request) -> Reply:
        asked.append(request["prompt"])
        problem = {"number": 1, "verdict": "misleading", "problem": "no need to"}
        return Reply(data={"problems": [problem], "reckonings": [], "checked": 1})

    with served(monkeypatch, playing(judge=judge)):
        _, report = verified(capsys, str(tmp_path / "r.md"), *MODEL, *opened(web[0]))
    assert "Re-check (s1p1) and (s2p1) before you buy. [s" in asked[0].replace("s2p1) and (s1p1", "s1p1) and (s2p1")
    assert report["claims"][0]["text"] == report["problems"][0]["quote"]


def test_what_a_page_says_in_other_words_is_looked_for_by_the_judge_s_words(
    tmp_path: Path, web: tuple[FakeWeb, str], capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    rooms = "".join(
        f"<h2>Room {n}</h2><p>{f'The room {n} has a door, a lamp and two chairs. ' * 12}</p>" for n in range(30)
    )
    deciding = "<h2>End</h2><p>Admission is granted to holders of a blue ticket.</p>"
    web[0].site("engines.test").page("/house", f"<title>House</title><h1>House</h1>{rooms}{deciding}")
    (tmp_path / "r.md").write_text(f"# 房子\n\n持蓝票者可以入场 ([House]({web[1]}/house))。\n", "utf-8")
    asked: list[str] = []

    def judge(request: Request) -> Reply:
        asked.append(request["prompt"])
        finds = "Admission is granted" in request["prompt"]
        problem = {"number": 1, "verdict": "unsupported", "problem": "not there", "look_for": "blue ticket admission"}
        return Reply(data={"problems": [] if finds else [problem], "reckonings": [], "checked": 1})

    with served(monkeypatch, playing(judge=judge)):
        code, report = verified(capsys, str(tmp_path / "r.md"), *MODEL, *opened(web[0]))
    assert (code, report["problems"], len(asked)) == (0, [], 2)
    assert "Admission is granted" not in asked[0]


def test_codes_of_terminals_in_a_given_report_are_kept_and_shown_nowhere(tmp_path: Path) -> None:
    text = "# En\x1b]0;owned\x07gines\n\nThe Alpha engine\x9b31m turns at 3,000 rpm. \x1b]52;c;ZWNobw==\x07"
    run = api.start_verification(GivenReport(text=text), Settings(model_provider="finder"), home=tmp_path / "home")
    report = asyncio.run(run.carry_out())
    assert not {"\x1b", "\x9b", "\x07"} & set(report.model_dump_json() + report.report + report.title)
    for file in (tmp_path / "home").rglob("*.db"):
        assert b"\\u001b" not in file.read_bytes()
