"""The command and the library function, and the plug-in that the documentation shows, in processes of their own."""

import json
import re
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from jsonschema import Draft202012Validator

from deep_research import export
from deep_research.data import Report
from deep_research.errors import ConfigError, RunNotFound
from tests.cli.terminal import Said, told
from tests.house.documents import DOCS
from tests.support.made_reports import make_report, save_run


class Ran(NamedTuple):
    """A state folder with a finished run."""

    home: Path
    report: Report


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    home = tmp_path_factory.mktemp("exported")
    return Ran(home, save_run(home, make_report()).load_result())


def command(ran: Ran, *arguments: str) -> Said:
    return told("export", *arguments, env={"DEEP_RESEARCH_HOME": str(ran.home)})


def with_plug_in(ran: Ran, folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    environment = {"DEEP_RESEARCH_HOME": str(ran.home), "PYTHONPATH": str(folder), "LANG": "C.UTF-8"}
    line = [sys.executable, "-m", "deep_research", "export", *arguments]
    return subprocess.run(line, check=False, capture_output=True, timeout=100, env=environment)


def test_a_report_of_a_run_is_exported_with_the_context_of_its_passages(ran: Ran) -> None:
    page = export(ran.report.run_id, "html", home=ran.home).decode()
    assert "<mark>" in page
    assert "The Alpha engine was built in 1999" in page
    exported = json.loads(export(ran.report.run_id, "json", home=ran.home))
    schema = json.loads((DOCS / "result.schema.json").read_text("utf-8"))
    Draft202012Validator(schema).validate(exported)
    assert exported["run_id"] == ran.report.run_id


def test_a_file_is_written_under_a_name_of_the_title(ran: Ran, tmp_path: Path) -> None:
    out = tmp_path / "report.pdf"
    done = command(ran, ran.report.run_id, "--to", "pdf", "--out", str(out))
    assert done.code == 0, done.err
    assert out.read_bytes().startswith(b"%PDF-")
    assert done.out == f"Written: {out}\n"
    done = command(ran, ran.report.run_id[:-2], "--to", "ris", "--out", "-")
    assert done.out.startswith("TY  - GEN")


def test_what_cannot_be_exported_is_said(ran: Ran) -> None:
    with pytest.raises(ConfigError, match=r"no exporter 'odt'; there are: bibtex, .*xlsx"):
        export(ran.report.run_id, "odt", home=ran.home)
    with pytest.raises(RunNotFound):
        export("nothing", "html", home=ran.home)
    assert command(ran, "--to", "html").code == 2
    assert command(ran, ran.report.run_id, "--to", "html", "--followup", "7", "--out", "-").code == 2


def test_the_plug_in_of_the_documentation_works(ran: Ran, tmp_path: Path) -> None:
    page = (DOCS / "extending.md").read_text("utf-8")
    code = re.search(r"```python\n(from deep_research\.data import ExportInput\n.*?)```", page, re.DOTALL)
    entry = re.search(r'exporters"\]\n(?P<line>outline = )"(?P<value>.+)"', page)
    assert code is not None
    assert entry is not None
    (tmp_path / "outline_export.py").write_text(code[1], "utf-8")
    info = tmp_path / "outline_export-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: outline-export\nVersion: 1.0\n", "utf-8")
    (info / "entry_points.txt").write_text(f"[deep_research.exporters]\noutline = {entry['value']}\n", "utf-8")
    done = with_plug_in(ran, tmp_path, ran.report.run_id, "--to", "outline", "--out", "-")
    assert done.returncode == 0, done.stderr
    first, *rest = done.stdout.decode().splitlines()
    assert first == ran.report.title
    assert any(re.fullmatch(r"- .+: [1-9]\d*", line) for line in rest)
    assert "outline" in with_plug_in(ran, tmp_path).stdout.decode()
