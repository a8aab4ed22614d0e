"""A watched report: refreshed when it is due, told where something changed, silent where nothing did."""

import email
import os
import subprocess
import sys
from email import policy
from pathlib import Path

import pytest

from deep_research import api
from tests.runs.running import Ran, engines, run
from tests.watch.receivers import mail_server, talking_mail_server, webhook

QUESTION = "Compare the Alpha engine and the Beta engine"


@pytest.fixture
def ran(tmp_path: Path) -> Ran:
    return run(QUESTION, home=tmp_path / "home", docs=[engines(tmp_path / "docs")])


def watch(ran: Ran, *flags: str, **variables: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": os.defpath, "DEEP_RESEARCH_HOME": str(ran.home), "LANG": "C.UTF-8", **variables}
    line = [sys.executable, "-m", "deep_research", "watch", ran.report.run_id, "--once", *flags]
    return subprocess.run(line, check=False, capture_output=True, text=True, timeout=100, env=environment)


def change_the_documents(ran: Ran) -> None:
    note = ran.home.parent / "docs" / "beta.md"
    note.write_text(note.read_text("utf-8").replace("recommended for trucks", "recommended for 97 buses"), "utf-8")


def test_a_mail_server_that_says_too_much_costs_the_letter_alone(ran: Ran) -> None:
    change_the_documents(ran)
    with talking_mail_server() as smtp:
        told = watch(ran, "--now", "--mail-to", "me@example.org", SMTP_URL=smtp)
    assert "The letter was not sent" in told.stderr
    assert "Traceback" not in told.stderr
    assert "97 buses" in told.stdout


def test_what_changed_is_told_once_and_the_newest_refresh_is_refreshed_next(ran: Ran) -> None:
    change_the_documents(ran)
    with webhook() as (url, told), mail_server() as (smtp, letters):
        told_to = ("--webhook", url, "--mail-to", "me@example.org")
        first = watch(ran, "--now", *told_to, SMTP_URL=smtp)
        assert first.returncode == 0, first.stderr
        assert "97 buses" in first.stdout
        again = watch(ran, "--every", "1d", *told_to, SMTP_URL=smtp)
        assert (again.returncode, "Not due yet" in again.stderr) == (0, True)
        second = watch(ran, "--now", *told_to, SMTP_URL=smtp)
        assert second.returncode == 0, second.stderr
        assert "nothing changed" in second.stdout
    (notice,) = told
    assert (notice["event"], notice["question"], notice["parent"]) == ("report_refreshed", QUESTION, ran.report.run_id)
    assert any("97 buses" in statement["text"] for statement in notice["statements"])
    assert "97 buses" in notice["markdown"]
    (letter,) = letters
    parsed = email.message_from_string(letter, policy=policy.default)
    assert parsed["To"] == "me@example.org"
    assert parsed["Subject"].startswith("deep-research: ")
    body = parsed.get_body()
    assert body is not None
    assert "97 buses" in body.get_content()
    newest = api.newest_refresh(ran.report.run_id, home=ran.home)
    assert newest.record.parent == notice["run_id"]
    assert len(api.list_runs(home=ran.home)) == 3


def test_a_message_that_is_not_taken_ends_with_1_and_the_report_is_kept(ran: Ran) -> None:
    change_the_documents(ran)
    with webhook(500) as (url, told):
        done = watch(ran, "--now", "--webhook", url)
    assert done.returncode == 1
    assert "The webhook answered 500." in done.stderr
    assert len(told) == 1
    assert api.newest_refresh(ran.report.run_id, home=ran.home).has_report


@pytest.mark.parametrize(
    ("flags", "said"),
    [
        (("--webhook", "ftp://x"), "is no address of the web"),
        (("--mail-to", "nobody"), "is no e-mail address"),
        (("--mail-to", "a@example.org"), "Set SMTP_URL"),
        (("--every", "soon"), "is no length of time"),
    ],
)
def test_what_could_not_be_sent_is_said_before_anything_is_researched(
    ran: Ran, flags: tuple[str, str], said: str
) -> None:
    done = watch(ran, "--now", *flags)
    assert (done.returncode, said in done.stderr) == (2, True)
    assert len(api.list_runs(home=ran.home)) == 1


def test_an_interrupted_refresh_is_carried_on(ran: Ran) -> None:
    import asyncio  # noqa: PLC0415

    begun = asyncio.run(api.open_run(ran.report.run_id, home=ran.home).refresh())
    done = watch(ran, "--every", "1y")
    assert done.returncode == 0, done.stderr
    assert begun.has_report
    assert len(api.list_runs(home=ran.home)) == 2
