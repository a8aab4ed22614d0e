"""Bundles that somebody else made: nothing in them leads out, odd ones get one line, and half of one is never seen."""

import hashlib
import json
import os
import random
import signal
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.runs.running import engines, run

from deep_research import api
from deep_research.cli.main import cli
from deep_research.errors import ConfigError, ReplayDiffers, ResearchError, StoreError
from deep_research.foreign_settings import SHAPES_REPORT
from deep_research.settings import Settings
from deep_research.stores.run_bundle import read_bundle, write_bundle
from deep_research.stores.run_folder import FolderRuns, RunFolder
from deep_research.stores.run_store import RunStores

Members = dict[str, bytes]
Change = Callable[[Members], object]


@pytest.fixture(scope="module")
def good(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundle of a finished run."""
    folder = tmp_path_factory.mktemp("good")
    ran = run("Which kinds of engines are there?", home=folder / "home", docs=[engines(folder / "docs")])
    write_bundle(ran.folder, folder / "good.zip")
    return folder / "good.zip"


def _changed(good: Path, path: Path, change: Change) -> Path:
    """Write a bundle anew with changed members, whose hashes are right."""
    with zipfile.ZipFile(good) as bundle:
        members = {name: bundle.read(name) for name in bundle.namelist() if name != "manifest.json"}
        told = json.loads(bundle.read("manifest.json"))
    change(members)
    told["members"] = {name: hashlib.sha256(data).hexdigest() for name, data in members.items()}
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as bundle:
        for name, data in {**members, "manifest.json": json.dumps(told).encode()}.items():
            bundle.writestr(name, data)
    return path


def _edit(members: Members, name: str, **changes: Any) -> None:
    members[name] = json.dumps({**json.loads(members[name]), **changes}).encode()


def _follow_up(number: int, **facts: Any) -> bytes:
    made = {"run_id": "x", "number": number, "question": "And then?", "language": "en", "created": "2026-01-01"}
    return json.dumps({**made, "status": "finished", **facts}).encode() + b"\n"


OUTSIDE: dict[str, Any] = {
    "ranker": "openai:x",
    "ranker_base_url": "http://attacker.test/v1",
    "model_base_url": "http://attacker.test/v1",
    "proxy": "http://attacker.test",
    "budget_usd": 9999.0,
    "model_provider": "openai",
    "sources": ["tavily"],
    "source_options": {"tavily": {"base_url": "http://attacker.test"}},
    "source_options.searxng.base_url": "http://attacker.test",
    "mcp_servers": {"x": {"command": "touch"}},
    "depth": "brief",
}


def test_nothing_of_a_bundle_says_where_anything_is_written_read_sent_started_or_paid(
    good: Path, runs: RunStores, tmp_path: Path
) -> None:
    victim = tmp_path / "authorized_keys"

    def plant(members: Members) -> None:
        outside = {"out": str(victim), "docs": ["/etc"], "owner": "anna", "parent": "../../x", "mcp_servers": ["x"]}
        _edit(members, "run.json", status="stopped", settings=OUTSIDE, **outside)
        asked = _follow_up(1, settings=OUTSIDE) + _follow_up(2, settings=OUTSIDE, status="running")
        members["follow_ups.jsonl"] = asked

    told: list[str] = []
    taken = read_bundle(_changed(good, tmp_path / "b.zip", plant), runs, on_left_out=told.append)
    record = taken.load()
    assert record.settings == {"depth": "brief"}
    assert (record.out, record.docs, record.owner, record.parent, record.mcp_servers) == ("", (), "", "", ())
    assert record.status == "finished"
    assert "attacker.test" not in record.model_dump_json()
    assert [(one.number, one.settings) for one in taken.read_follow_ups()] == [(1, {})]
    for name in ("out", "docs", "ranker_base_url", "source_options.tavily.base_url", "mcp_servers.x.command"):
        assert name in told[0] or "more" in told[0]
    assert "out" in told[0]
    assert not victim.exists()


def test_resuming_an_imported_run_writes_to_no_file_of_the_user(good: Path, tmp_path: Path) -> None:
    victim = tmp_path / "precious"
    victim.write_text("PRECIOUS")
    other = {"out": str(victim), "question": "Which kinds of boats are there?"}
    bundle = _changed(good, tmp_path / "b.zip", lambda members: _edit(members, "run.json", **other))
    imported = CliRunner().invoke(cli, ["import", str(bundle)])
    assert imported.exit_code == 0, imported.output
    assert "Left out" in imported.stderr
    assert "out" in imported.stderr
    run_id = api.list_runs()[0].run_id
    report = Path(api.open_run(run_id).report_path)
    before = report.read_bytes()
    resumed = CliRunner().invoke(cli, ["resume", run_id])
    assert resumed.exit_code == 0, resumed.output
    assert victim.read_text() == "PRECIOUS"
    assert report.read_bytes() == before  # it is shown, and nothing is done again


def test_the_users_own_settings_hold_for_an_imported_run(good: Path, own_state: Path) -> None:
    own_state.mkdir()
    (own_state / "settings.toml").write_text('proxy = "http://mine.test"\nbudget_usd = 1.0\n')
    settings = api.read_bundle(good).record.settings
    assert (settings["proxy"], settings["budget_usd"]) == ("http://mine.test", 1.0)


def test_what_may_be_brought_along_are_settings_that_lead_nowhere() -> None:
    assert Settings.model_fields.keys() > SHAPES_REPORT
    kinds = {name: str(Settings.model_fields[name].annotation) for name in SHAPES_REPORT}
    assert [name for name, kind in kinds.items() if kind == "<class 'str'>"] == ["template"]


def _bytes(change: Callable[[bytearray], object]) -> Callable[[Path], object]:
    def write(path: Path) -> None:
        data = bytearray(path.read_bytes())
        change(data)
        path.write_bytes(data)

    return write


def _encrypt(data: bytearray) -> None:
    for mark, offset in ((b"PK\x03\x04", 6), (b"PK\x01\x02", 8)):
        at = 0
        while (at := data.find(mark, at)) >= 0:
            data[at + offset] |= 1
            at += 4


def _break_deflate(data: bytearray) -> None:
    at = data.find(b"run.json") + len("run.json")
    data[at + 2 : at + 30] = b"\xff" * 28


def _rows(name: str, data: bytes) -> Change:
    return lambda members: members.update({name: data})


def _passage(**values: int) -> Change:
    """Give the first passage other values, by their place in its row."""

    def change(members: Members) -> None:
        rows = [json.loads(line) for line in members["snapshots.jsonl"].splitlines()]
        for place, value in values.items():
            rows[0]["passages"][0][("id", "start", "end").index(place)] = value
        members["snapshots.jsonl"] = b"".join(json.dumps(row).encode() + b"\n" for row in rows)

    return change


def _repeated(members: Members, *, snapshots: int = 1, passages: int = 0) -> None:
    """Name a text of 10 MB again and again: as snapshots, or by passages that each are all of it."""
    row = json.loads(members["snapshots.jsonl"].splitlines()[0])
    text = random.Random(1).randbytes(5_000_000).hex().encode()
    first = row["passages"][0]
    named = [[number, 0, len(text), *first[3:]] for number in range(1, passages + 1)]
    row |= {"sha256": hashlib.sha256(text).hexdigest(), "passages": named}
    members[f"texts/{row['sha256']}.txt"] = text
    members["snapshots.jsonl"] = (json.dumps(row).encode() + b"\n") * snapshots


def _result(change: Callable[[Any], object]) -> Change:
    """Change the result of a bundle, a JSON object."""

    def changed(members: Members) -> None:
        result = json.loads(members["result.json"])
        change(result)
        members["result.json"] = json.dumps(result).encode()

    return changed


def _with_gap(members: Members, **facts: Any) -> Any:
    """Return the result of a bundle with one gap of these facts."""
    return {**json.loads(members["result.json"]), "gaps": [{"what": "links", "why": "", **facts}]}


def _reason(**facts: Any) -> Change:
    return _result(lambda result: result["claims"][0].update(verdict={"kind": "unverified", **facts}))


BLANKS = random.Random(1).randbytes(24_000_000).translate(bytes(b" \n\t\r"[n % 4] for n in range(256)))
"""They pack no better than a text."""

ODD: dict[str, Change] = {
    "nested record": _rows("run.json", b"[" * 200_000),
    "nested row": _rows("notes.jsonl", b"[" * 200_000 + b"\n"),
    "a row that is a text": _rows("snapshots.jsonl", b'"abc"\n'),
    "a huge number": _passage(id=10**20),
    "a number of many digits": _rows("notes.jsonl", b"9" * 6000 + b"\n"),
    "a passage outside its text": _passage(start=-5, end=10**8),
    "a text of many snapshots": lambda members: _repeated(members, snapshots=50),
    "passages that overlap": lambda members: _repeated(members, passages=50),
    "a row of too many values": _rows("notes.jsonl", b"[" + b"[]," * 1_000_000 + b"0]\n"),
    "settings of too many values": lambda members: _edit(members, "run.json", settings={"docs": [0] * 1_000_001}),
    "a result of 24 MB": lambda members: members.update({"result.json": members["result.json"] + BLANKS}),
    "no date": lambda members: _edit(members, "run.json", created="not a date"),
    "a date before all dates": lambda members: _edit(members, "run.json", created="0001-01-01T00:00:00+23:59"),
    "a date of no zone": lambda members: _edit(members, "run.json", created="2026-11-29T12:00:00"),
    "a date in the far future": lambda members: _edit(members, "run.json", created="9998-01-01T00:00:00+00:00"),
    "a statement that cites again and again": _result(lambda r: r["claims"][0].update(passages=["s1p1"] * 200_000)),
    "a reference before the first": _result(lambda result: result["references"][0].update(number=-1)),
    "a source read at no time": _result(lambda r: next(iter(r["sources"].values())).update(retrieved_at="then")),
    "a reason that nobody knows": _reason(codes=["no_such_code"]),
    "a reason without its values": _reason(codes=["number_missing"]),
    "a reason of many codes": _reason(codes=["not_judged"] * 1_000),
    "an answer whose reasons nobody knows": lambda members: members.update(
        {"follow_ups.jsonl": _follow_up(1, report=_with_gap(members, codes=["no_such_code"]))}
    ),
    "a member that no bundle has": _rows("../../evil.sh", b"x"),
    "much from little": _rows("notes.jsonl", b"{}\n" * 10_000_000),
    "too many rows": _rows("steers.jsonl", b'{"kind": "finish", "id": "1"}\n' * 1_001),
    "too many members": lambda members: members.update({f"texts/{n:064x}.txt": b"" for n in range(20_001)}),
}
BROKEN = {"broken deflate": _bytes(_break_deflate), "encrypted": _bytes(_encrypt)}


@pytest.mark.parametrize("kind", [*ODD, *BROKEN, "manifest no object", "nested manifest", "no members"])
def test_an_odd_archive_gets_one_line_and_nothing_is_listed(good: Path, kind: str, tmp_path: Path) -> None:
    path = _changed(good, tmp_path / "odd.zip", ODD.get(kind, lambda _members: None))
    if kind in BROKEN:
        BROKEN[kind](path)
    manifests = {
        "manifest no object": "[]",
        "nested manifest": "[" * 200_000,
        "no members": '{"format": 1, "members": 0}',
    }
    if kind in manifests:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("manifest.json", manifests[kind])
    runs = FolderRuns(tmp_path / "home")
    with pytest.raises(ConfigError) as refused:
        read_bundle(path, runs)
    assert "\n" not in refused.value.message
    assert "odd.zip" in refused.value.message
    assert len(refused.value.message) < 500 + len(str(path))
    assert not runs.list()
    assert not list((tmp_path / "home").glob("runs/*"))


@pytest.mark.process
def test_a_killed_import_leaves_nothing_listed_and_the_next_clears_up(good: Path, tmp_path: Path) -> None:
    home, code = tmp_path / "home", (
        "import os, signal, sys; from pathlib import Path\n"
        "from deep_research.stores import run_folder, run_bundle\n"
        "run_folder.RunFolder.save_result = lambda *_: os.kill(os.getpid(), signal.SIGKILL)\n"
        "run_bundle.read_bundle(Path(sys.argv[1]), run_folder.FolderRuns(Path(sys.argv[2])))"
    )  # fmt: skip
    killed = subprocess.run([sys.executable, "-c", code, str(good), str(home)], check=False)
    assert killed.returncode == -signal.SIGKILL
    runs = FolderRuns(home)
    assert not runs.list()
    (left,) = home.glob("runs/.import-*")
    os.utime(left, (0, 0))  # one that has just begun is let go on
    taken = read_bundle(good, runs)
    assert [record.run_id for record in runs.list()] == [taken.run_id]
    assert taken.has_report()
    assert not list(home.glob("runs/.import-*"))


@pytest.mark.process
def test_imports_at_the_same_time_leave_each_other_alone(good: Path, tmp_path: Path) -> None:
    home, code = tmp_path / "home", (
        "import sys; from pathlib import Path\n"
        "from deep_research.stores import run_folder, run_bundle\n"
        "runs = run_folder.FolderRuns(Path(sys.argv[2]))\n"
        "runs.new_id = lambda _wanted='', made=iter(range(99)): f'{sys.argv[3]}-{next(made)}'\n"
        "for _ in range(20): run_bundle.read_bundle(Path(sys.argv[1]), runs)"
    )  # fmt: skip
    command = [sys.executable, "-c", code, str(good), str(home)]
    importing = [subprocess.Popen([*command, name], stderr=subprocess.PIPE) for name in "abcd"]
    said = [one.communicate()[1].decode() for one in importing]
    assert [one.returncode for one in importing] == [0] * 4, said
    assert len(FolderRuns(home).list()) == 80


def test_an_import_that_fails_at_its_end_leaves_nothing(
    good: Path, runs: RunStores, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    bad = _changed(good, tmp_path / "b.zip", _rows("result.json", b"{}"))
    with pytest.raises(ConfigError):
        read_bundle(bad, runs)
    assert not runs.list()
    assert read_bundle(good, runs).load().run_id == json.loads(zipfile.ZipFile(good).read("run.json"))["run_id"]


def test_a_bundle_that_cannot_be_written_leaves_the_file_that_was_there(
    good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = read_bundle(good, FolderRuns(tmp_path / "home"))
    target = tmp_path / "b.zip"
    target.write_text("GOOD")
    assert isinstance(store, RunFolder)
    store.events.unlink()
    store.events.mkdir()  # what is read of the run fails in the middle of the bundle
    with pytest.raises((StoreError, OSError, ResearchError)):
        write_bundle(store, target)
    assert target.read_text() == "GOOD"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["b.zip", "home"]


ESCAPES = "\x1b]0;PWNED\x07\x1b[2J\x1b]8;;http://evil/\x07\u202e\x9b31m"


def test_terminal_codes_of_a_bundle_reach_no_screen(good: Path, tmp_path: Path) -> None:
    def everywhere(value: Any) -> Any:
        if isinstance(value, str):
            return value + ESCAPES if len(value) > 12 and " " in value else value
        if isinstance(value, dict):
            return {key: everywhere(one) for key, one in value.items()}
        return [everywhere(one) for one in value] if isinstance(value, list) else value

    def plant(members: Members) -> None:
        for name in ("run.json", "result.json"):
            members[name] = json.dumps(everywhere(json.loads(members[name]))).encode()
        told = json.loads(members["result.json"])
        _edit(members, "result.json", reasoner={**told["reasoner"], "calls": {ESCAPES: 1}})
        for name in ("events.jsonl", "sources.jsonl"):
            rows = map(json.loads, members[name].splitlines())
            members[name] = b"".join(json.dumps(everywhere(row)).encode() + b"\n" for row in rows)
        rows = [json.loads(line) for line in members["snapshots.jsonl"].splitlines()]
        for row in rows:
            text = members.pop(f"texts/{row['sha256']}.txt").decode() + f"{ESCAPES} the end"
            row["sha256"] = hashlib.sha256(text.encode()).hexdigest()
            members[f"texts/{row['sha256']}.txt"] = text.encode()
            row["passages"][0][2], row["passages"][0][4] = len(text), f"Heading {ESCAPES}"
        members["snapshots.jsonl"] = b"".join(json.dumps(row).encode() + b"\n" for row in rows)
        members["follow_ups.jsonl"] = _follow_up(1, question=f"Why {ESCAPES}?", understood=ESCAPES, error=ESCAPES)

    bundle = _changed(good, tmp_path / "b.zip", plant)
    runner = CliRunner()
    outputs = [runner.invoke(cli, ["import", str(bundle)]).output]
    run_id = api.list_runs()[0].run_id
    for flags in ([], ["--passage", "s1p1"], ["--json"], ["--followup", "1"], ["--followup", "1", "--json"]):
        shown = runner.invoke(cli, ["show", run_id, *flags])
        assert shown.exit_code == 0, (flags, shown.output)
        outputs.append(shown.output)
    outputs += [runner.invoke(cli, [name, *flags]).output for name, flags in (("list", []), ("sources", []))]
    for output in outputs:
        assert not {"\x1b", "\x07", "\x9b", "\u202e"} & set(output)
    assert "the end" in outputs[2]


def test_the_report_of_a_bundle_is_markdown_without_html_and_links(good: Path, tmp_path: Path) -> None:
    def plant(members: Members) -> None:
        said = json.loads(members["result.json"])["report"]
        _edit(
            members, "result.json", report=f"{said}\n<script>alert(1)</script> [x](javascript:a) ![i](http://evil/x)\n"
        )

    original = api.read_bundle(good).report.report
    report = api.read_bundle(_changed(good, tmp_path / "b.zip", plant)).report.report
    assert report.startswith(original.rstrip())
    assert report.removeprefix(original.rstrip()).split() == [
        r"\<script>alert(1)\</script>", r"[x]\(javascript:a)", r"\![i]\(http://evil/x)",
    ]  # fmt: skip


def test_an_imported_run_answers_questions_from_what_it_has_read(good: Path) -> None:
    made = api.read_bundle(good)
    asked = CliRunner().invoke(cli, ["ask", "--run", made.id, "Which kinds of engines are there?"])
    assert asked.exit_code == 0, asked.output


@pytest.mark.parametrize(
    "named",
    [
        {"model_provider": "langchain", "model_name": "huggingface:attacker/model"},
        {
            "model_provider": "compatible",
            "model_name": "x",
            "write_model": "langchain:huggingface:attacker/model",
            "fallback_models": ["langchain:huggingface:attacker/m"],
            "ranker": "model:langchain:huggingface:attacker/m",
        },
    ],
    ids=["model", "model of a role, fallback and ranker"],
)
def test_a_replay_loads_no_model_that_a_bundle_names(
    good: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, named: dict[str, Any]
) -> None:
    package = tmp_path / "site" / "langchain_huggingface"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(f"from pathlib import Path\nPath({str(tmp_path / 'loaded')!r}).touch()\n")
    monkeypatch.syspath_prepend(package.parent)

    def change(members: Members) -> None:
        _edit(members, "run.json", settings={**json.loads(members["run.json"])["settings"], **named})

    bundle = _changed(good, tmp_path / "evil.zip", change)
    replayed = CliRunner().invoke(cli, ["replay", str(bundle)], env={"DEEP_RESEARCH_HOME": str(tmp_path / "home")})
    assert replayed.exception is None or isinstance(replayed.exception, ReplayDiffers), replayed.output
    assert not (tmp_path / "loaded").exists()
    sys.modules.pop("langchain_huggingface", None)
