"""The wheel in an environment that holds what it asks for and nothing of development, and the files for deployment."""

import configparser
import json
import os
import re
import subprocess
import sys
import tomllib
import venv
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.version import Version

from deep_research.cli.main import cli
from tests.house.sources import ROOT

PACKAGES = ("claimcheck", "deep-research", "deep-research-server")
PROJECTS = {name: tomllib.loads((ROOT / "packages" / name / "pyproject.toml").read_text("utf-8")) for name in PACKAGES}
REQUIRED = [one for project in PROJECTS.values() for one in project["project"]["dependencies"]]
DEVELOPMENT = ("pytest", "ruff", "openai", "anthropic", "langchain", "mcp", "typst", "vulture", "playwright")


def distributions(requirements: list[str], found: dict[str, metadata.Distribution]) -> dict[str, metadata.Distribution]:
    """Return what requirements ask for, and what that asks for, by name."""
    for text in requirements:
        wanted = Requirement(text)
        extras = [{"extra": extra} for extra in wanted.extras] or [{"extra": ""}]
        if wanted.marker and not any(wanted.marker.evaluate(extra) for extra in [{"extra": ""}]):
            continue
        name = re.sub(r"[-_.]+", "-", wanted.name).lower()
        if name in found:
            continue
        found[name] = metadata.distribution(wanted.name)
        inner = [
            each
            for each in found[name].requires or []
            if (marker := Requirement(each).marker) is None or any(marker.evaluate(extra) for extra in extras)
        ]
        distributions([each.split(";")[0] for each in inner], found)
    return found


def link(distribution: metadata.Distribution, site: Path) -> None:
    """Put the files of a distribution into another environment, as links to what is installed here."""
    for top in {file.parts[0] for file in distribution.files or [] if file.parts[0] not in ("..", "__pycache__")}:
        source, target = Path(str(distribution.locate_file(top))), site / top
        if source.exists() and not target.exists():
            target.symlink_to(source)


@pytest.fixture(scope="module")
def wheels(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of the three wheels."""
    folder = tmp_path_factory.mktemp("dist")
    build = [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)]
    for name in PACKAGES:
        subprocess.run(build, cwd=ROOT / "packages" / name, check=True, capture_output=True, timeout=100)
    return folder


def environment(folder: Path, wheels: Path, *names: str) -> Path:
    """Make an environment with the wheels of some packages and what they require; return its folder of programs."""
    venv.create(folder / "venv")
    programs = folder / "venv" / "bin"
    install = [sys.executable, "-m", "pip", "--python", str(programs / "python"), "install", "--no-index", "--no-deps"]
    subprocess.run(
        [*install, "--quiet", *(str(next(wheels.glob(f"{name.replace('-', '_')}-0*.whl"))) for name in names)],
        check=True,
        capture_output=True,
        timeout=100,
    )
    (site,) = (folder / "venv" / "lib").glob("python*/site-packages")
    required = [one for name in names for one in PROJECTS[name]["project"]["dependencies"]]
    for name, distribution in distributions(required, {}).items():
        if name not in PACKAGES:
            link(distribution, site)
    return programs


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory, wheels: Path) -> Path:
    """The folder of programs of an environment with all three packages and what they require."""
    return environment(tmp_path_factory.mktemp("installed"), wheels, *PACKAGES)


def test_claimcheck_works_alone(wheels: Path, tmp_path: Path) -> None:
    programs = environment(tmp_path, wheels, "claimcheck")
    (tmp_path / "bridge.txt").write_text("The bridge was built in 1893 by the city.", "utf-8")
    for claim, code, said in (("built in 1893 by the city.", 0, "supported"), ("built in 1894.", 2, "1893")):
        line = [str(programs / "claimcheck"), f"The bridge was {claim}", "bridge.txt"]
        done = subprocess.run(line, check=False, capture_output=True, text=True, timeout=60, cwd=tmp_path)
        assert (done.returncode, said in done.stdout) == (code, True), done.stderr
    line = [str(programs / "claimcheck"), "The bridge was built in 1894.", "-", "--language", "ko", "--json"]
    text = "The bridge was built in 1893 by the city."
    done = subprocess.run(line, check=False, capture_output=True, text=True, timeout=60, cwd=tmp_path, input=text)
    assert json.loads(done.stdout)["reason"].startswith("숫자")
    line = [str(programs / "claimcheck"), "claim", "no such file"]
    assert subprocess.run(line, check=False, capture_output=True, timeout=60, cwd=tmp_path).returncode == 3


def test_the_library_works_without_the_server_and_says_what_that_is_in(wheels: Path, tmp_path: Path) -> None:
    programs = environment(tmp_path, wheels, "claimcheck", "deep-research")
    assert not re.search(r"(?m)^  serve ", command(programs, tmp_path, "--help").stdout)
    refused = command(programs, tmp_path, "serve")
    assert (refused.returncode, "install its wheel" in refused.stderr) == (2, True)
    refused = command(programs, tmp_path, "list", DEEP_RESEARCH_DATABASE_URL="postgresql://h/d")
    assert (refused.returncode, "wheel of deep-research-server" in refused.stderr) == (2, True)


def test_no_package_is_completed_by_a_namesake_from_an_index() -> None:
    ours = [Requirement(one) for one in REQUIRED if Requirement(one).name in PACKAGES]
    assert {str(one.specifier) for one in ours} == {f"=={PROJECTS[one.name]['project']['version']}" for one in ours}
    for name, project in PROJECTS.items():
        assert Version(project["project"]["version"]).local, f"{name}: an index takes versions without a local label"
    told = "".join(page.read_text("utf-8") for page in [*ROOT.glob("docs/*.md"), *ROOT.glob("packages/*/README.md")])
    assert not re.search(r"pip install '?(claimcheck|deep-research-server)", told)


def command(installed: Path, home: Path, *arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {
        "PATH": os.defpath,
        "DEEP_RESEARCH_HOME": str(home),
        "LANG": "C.UTF-8",
        "HOME": str(home),
        **variables,
    }
    line = [str(installed / "deep-research"), *arguments]
    return subprocess.run(line, check=False, capture_output=True, text=True, timeout=110, env=environment, cwd=home)


@pytest.mark.timeout(240)
def test_the_wheel_runs_the_demo_and_exports_without_development_dependencies(installed: Path, tmp_path: Path) -> None:
    done = command(installed, tmp_path, "How does speculative decoding work?", "--quiet", "--out", "report.md")
    assert done.returncode == 0, done.stderr
    report = (tmp_path / "report.md").read_text("utf-8")
    assert "draft" in report
    assert "## References" in report
    exporting = (
        "import importlib.util, sys; from deep_research.api import export, list_runs\n"
        f"print([name for name in {DEVELOPMENT!r} if importlib.util.find_spec(name)])\n"
        "(run,) = list_runs()\n"
        "print([name for name in sys.argv[1:] if len(export(run.run_id, name)) < 100])\nprint(run.run_id)"
    )
    line = [str(installed / "python"), "-c", exporting, "html", "docx", "pptx", "xlsx", "bibtex", "csv"]
    own = {"PATH": os.defpath, "DEEP_RESEARCH_HOME": str(tmp_path), "LANG": "C.UTF-8"}
    made = subprocess.run(line, check=False, capture_output=True, text=True, timeout=110, env=own, cwd=tmp_path)
    assert made.stdout.splitlines()[:2] == ["[]", "[]"], made.stderr
    run = made.stdout.splitlines()[2]
    refused = command(installed, tmp_path, "export", run, "--to", "pdf")
    assert (refused.returncode, "deep-research[pdf]" in refused.stderr) == (2, True)
    refused = command(installed, tmp_path, "mcp")
    assert (refused.returncode, "deep-research-server[mcp]" in refused.stderr) == (2, True)


def test_commands_show_their_help_there_and_the_shell_completes_flags(installed: Path, tmp_path: Path) -> None:
    for name in ("serve", "eval"):
        done = command(installed, tmp_path, name, "--help")
        assert done.returncode == 0, done.stderr
        assert "Usage: deep-research" in done.stdout
    words = {"COMP_WORDS": "deep-research export --f", "COMP_CWORD": "2"}
    completed = command(installed, tmp_path, _DEEP_RESEARCH_COMPLETE="bash_complete", **words)
    assert "plain,--fonts" in completed.stdout.split()


def test_the_files_for_deployment_name_what_is_there() -> None:
    docker = (ROOT / "deploy" / "Dockerfile").read_text("utf-8")
    ignored = (ROOT / ".dockerignore").read_text("utf-8").split()
    for line in re.findall(r"(?m)^COPY (?!--from)(.+) \S+$", docker):
        for name in line.split():
            assert (ROOT / name).exists(), name
            assert f"!{name}" in ignored, name
    compose = (ROOT / "deploy" / "compose.yaml").read_text("utf-8")
    commands = [re.findall(r'"([^"]+)"', line) for line in re.findall(r"command: \[(.+)\]", compose)]
    assert [name for name, *_ in commands] == ["serve", "worker", "mcp"]
    unit = configparser.ConfigParser(strict=False, interpolation=None)
    unit.read_string((ROOT / "deploy" / "deep-research.service").read_text("utf-8"))
    commands.append(unit["Service"]["execstart"].split()[1:])
    for name, *flags in commands:
        found = cli.commands_by_name  # type: ignore[attr-defined]
        assert name in found
        command = cli.get_command(None, name)  # type: ignore[arg-type]
        assert command is not None
        known = {option for parameter in command.params for option in parameter.opts}
        assert {flag for flag in flags if flag.startswith("--")} <= known


def _pins(name: str) -> dict[str, list[str]]:
    """Return the hashes of what a lock names, by name and version."""
    found: dict[str, list[str]] = {}
    for line in (ROOT / name).read_text("utf-8").splitlines():
        if pinned := re.match(r"[\w.\[\]-]+==[^\s;]+", line):
            found[pinned[0]] = []
        elif hashed := re.search(r"--hash=\S+", line):
            found[list(found)[-1]].append(hashed[0])
    return found


def test_what_the_container_installs_is_what_was_tested_by_its_hash() -> None:
    docker = (ROOT / "deploy" / "Dockerfile").read_text("utf-8")
    installs = re.findall(r"pip install (.+)", docker)
    assert installs
    assert all("--require-hashes" in line or "--no-index" in line for line in installs)
    assert set(re.findall(r"(?m)^FROM (\S+)", docker)) == {"${PYTHON_IMAGE}"}
    tested = _pins("requirements.lock")
    for name in ("deploy/requirements.lock", "deploy/build.lock"):
        assert {pin: tested.get(pin) for pin in _pins(name)} == _pins(name)
        assert all(_pins(name).values())
    named = {re.split(r"[=\[]", pin)[0] for pin in _pins("deploy/requirements.lock")}
    extras = {name: one for project in PROJECTS.values() for name, one in project["project"].get("optional-dependencies", {}).items()}  # fmt: skip
    wanted = [*REQUIRED, *(one for name in ("pdf", "mcp", "postgres", "metrics", "otel") for one in extras[name])]
    assert {re.sub(r"[-_.]+", "-", Requirement(one).name).lower() for one in wanted} - {*PACKAGES} <= named


def test_servers_that_are_deployed_ask_for_tokens_and_have_limits() -> None:
    compose = (ROOT / "deploy" / "compose.yaml").read_text("utf-8")
    unit = (ROOT / "deploy" / "deep-research.service").read_text("utf-8")
    served = [*re.findall(r'command: \["(?:serve|mcp)".+', compose), *re.findall(r"ExecStart=.+", unit)]
    assert len(served) == 3
    assert all("--require-tokens" in line for line in served)
    program, database = compose.split("services:")[0], compose.split("  db:")[1]
    for part in (program, database):
        for limit in ("mem_limit", "pids_limit", "no-new-privileges:true", "cap_drop: [ALL]"):
            assert limit in part
    for limit in ("SystemCallFilter=", "MemoryMax=", "TasksMax=", "NoNewPrivileges=yes"):
        assert limit in unit
