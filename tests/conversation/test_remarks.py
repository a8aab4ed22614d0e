"""Lines of a conversation that ask nothing of the documents, and follow-ups about the report, without a model."""

from pathlib import Path

import pytest

from deep_research.conversation.replies import read_remark
from tests.conversation.screen import PROMPT, at_terminal
from tests.runs.running import command, write_notes

SAID = {
    "thanks": ["thanks", "Thank you!", "thanks, that was helpful", "谢谢", "감사합니다", "ありがとうございます"],
    "leave": ["quit", "exit", "bye", "退出", "종료", "終了"],
    "help": ["help", "Help me!", "帮助", "도움말", "ヘルプ"],
    "nothing_open": ["yes", "no", "ok", "好的", "네", "はい"],
}  # fmt: skip
QUESTIONS = [
    "What is VACUUM?", "help desk opening hours", "exit codes", "How does quit work?", "Tell me more about VACUUM",
    "performance", "2", "summary of the meeting of May", "verify checksums", "stop words", "section 230",
    "总结会议的内容有哪些？", "종료 코드는 무엇인가요?", "終了コードとは何ですか？",
]  # fmt: skip


@pytest.mark.parametrize(("kind", "line"), [(kind, line) for kind, lines in SAID.items() for line in lines])
def test_b10_a_remark_is_understood(kind: str, line: str) -> None:
    assert read_remark(line) == kind


@pytest.mark.parametrize("line", QUESTIONS)
def test_b10_a_question_or_topic_is_no_remark(line: str) -> None:
    assert read_remark(line) is None


DUMPS = "# Dumps\n\n## Locks\n\npg_dump does not block other users. It reads a snapshot.\n\n## Speed\n\npg_dump uses parallel jobs for speed.\n"


def test_b10_remarks_are_answered_and_never_researched(tmp_path: Path) -> None:
    docs = write_notes(tmp_path / "docs", dumps=DUMPS)
    with at_terminal("--docs", str(docs)) as screen:
        screen.say("thanks")
        screen.until("You are welcome.")
        screen.say("What does pg_dump do to other users?")
        screen.until("Ask about this report")
        screen.say("thanks")
        screen.until("You are welcome.")
        screen.say("Does it block other users?")
        screen.until("nothing new was searched.")
        screen.until("does not block other users")
        screen.say("/answers")
        assert "thanks" not in screen.until("1. Does it block other users?")
        screen.say("quit")
        assert screen.ends() == 0
        assert PROMPT not in screen.plain.rpartition("quit")[2]


def test_b10_a_remark_is_no_question_of_the_command(tmp_path: Path) -> None:
    said = command("thanks", "--docs", str(write_notes(tmp_path / "docs", dumps=DUMPS)))
    assert said.code == 4
