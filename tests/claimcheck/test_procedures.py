"""A procedure that is told with steps missing is flagged; one that is told whole, or not meant to be told, is not."""

import asyncio
from datetime import date

import pytest

from deep_research.claimcheck.procedures import steps_left_out
from deep_research.data import Document, Found
from deep_research.steps.check_claims import check_draft
from deep_research.steps.check_sentences import Ground
from deep_research.stores.sqlite_library import SqliteLibrary

EN = """To upgrade the server:
1. Stop the server and all clients.
2. Back up the data directory.
3. Install the new packages with `apt upgrade`.
4. Run `pg_upgrade --check` as the database user.
5. Start the server again."""
ZH = """升级步骤如下：
1. 停止服务器和所有客户端。
2. 备份数据目录。
3. 安装新的软件包。
4. 重新启动服务器。"""
KO = """업그레이드 절차는 다음과 같다.
1. 서버와 모든 클라이언트를 중지한다.
2. 데이터 디렉터리를 백업한다.
3. 새 패키지를 설치한다.
4. 서버를 다시 시작한다."""
JA = """アップグレードの手順：
1. サーバーとすべてのクライアントを停止する。
2. データディレクトリをバックアップする。
3. 新しいパッケージをインストールする。
4. サーバーを再起動する。"""

LACKING = [
    (EN, ["Stop the server and its clients.", "Install the new packages.", "Start the server."], [1, 3]),
    (EN, ["Stop the server and all clients", "Back up the data directory", "Run `pg_upgrade --check`", "Start it again: the server"], [2]),
    (ZH, ["停止服务器和客户端。", "安装新的软件包。", "重新启动服务器。"], [1]),
    (KO, ["서버와 모든 클라이언트를 중지한다.", "새 패키지를 설치한다.", "서버를 다시 시작한다."], [1]),
    (JA, ["サーバーとクライアントを停止する。", "データディレクトリをバックアップする。", "サーバーを再起動する。"], [2]),
]  # fmt: skip
WHOLE = [
    (EN, ["Stop the server and all clients, and back up the data directory.", "Install the new packages.",
          "Run `pg_upgrade --check`.", "Start the server again."]),
    (EN, ["A backup of the data directory is worth having."]),
    (EN, ["先停止服务器，再用 `apt upgrade` 安装软件包。", "然后运行 `pg_upgrade --check`。"]),
    (ZH, ["停止服务器和所有客户端。", "备份数据目录。", "安装新的软件包。", "重新启动服务器。"]),
    (KO, ["서버와 클라이언트를 중지하고 데이터 디렉터리를 백업한다.", "새 패키지를 설치한 뒤 서버를 다시 시작한다."]),
    (EN, ["先停止服务器：`systemctl stop`。", "再备份。", "用 apt upgrade 安装软件包。", "然后运行 pg_upgrade --check。"]),
    ("1. Stop all of it.\n2. Run `apt upgrade` now.\n3. Run `pg_upgrade --check` now.",
     ["先停止，再用 `apt upgrade`。", "然后运行 pg_upgrade --check。"]),
    ("1. Stop it.\n2. Start it.", ["Stop it."]),
    ("- Stop the server.\n- Start the server.\n- Look at it.", ["Stop the server.", "Start the server."]),
]  # fmt: skip


def _steps(source: str) -> list[str]:
    return [line[3:] for line in source.splitlines() if line[:1].isdigit()]


@pytest.mark.parametrize(("source", "told", "missing"), LACKING)
def test_steps_left_out_are_named_in_order(source: str, told: list[str], missing: list[int]) -> None:
    assert steps_left_out(told, source) == [_steps(source)[number] for number in missing]


@pytest.mark.parametrize(("source", "told"), WHOLE)
def test_what_is_told_whole_or_is_no_procedure_is_left_alone(source: str, told: list[str]) -> None:
    assert steps_left_out(told, source) == []


def test_a_list_that_begins_in_another_passage_is_read_too() -> None:
    source = "4. Mount the volume.\n5. Copy the journal\nto the new disk.\n6. Check the label."
    assert steps_left_out(["Mount the volume.", "Check the label."], source) == ["Copy the journal to the new disk."]


def test_what_follows_a_list_behind_an_empty_line_is_no_part_of_its_last_step() -> None:
    behind = "Clients that were connected before the upgrade have to log in once more with their old passwords."
    assert steps_left_out(_steps(EN), f"{EN}\n\n{behind}") == []
    assert steps_left_out(_steps(EN), f"{EN}\n{behind}") == [f"Start the server again. {behind}"]


def test_half_of_the_words_of_a_step_tell_it() -> None:
    source = "1. Mount the volume.\n2. Copy the journal quickly elsewhere.\n3. Check the label."
    told = ["Mount the volume.", "Check the label."]
    assert steps_left_out([*told, "The journal is one to copy."], source) == []
    assert steps_left_out([*told, "There is a journal."], source) == ["Copy the journal quickly elsewhere."]


def test_a_report_names_the_steps_that_its_procedure_lacks() -> None:
    library = SqliteLibrary(":memory:")
    source = library.add_source(Found(key="s1", title="Upgrading", origin="test"))
    library.add_snapshot(source.id, Document(text=EN), retrieved_at="2026-01-01T00:00:00Z")
    draft = "1. Stop the server and its clients. [s1p1]\n2. Install new packages. [s1p1]\n3. Start the server. [s1p1]"
    ground = Ground(today=date(2026, 1, 2))
    checked = asyncio.run(check_draft(draft, section="S", library=library, ground=ground))
    last = checked.content.splitlines()[-1]
    assert last.startswith("3. Start the server")
    assert "the source also has: Back up the data directory.; Run `pg_upgrade --check`" in last
    assert [claim.flags for claim in checked.claims] == [(), (), ("steps",)]
