"""Which sentences may be quoted, in three languages."""

import pytest

from deep_research.reasoners.extractive.sentence_quality import is_quotable, leans, recommends

GOOD = [
    "The planner chooses the cheapest plan for every query.",
    "asyncio is a library to write concurrent code with one thread.",
    "git merge --abort will reconstruct the state before the merge.",
    "autovacuum (boolean): Controls whether the server runs the launcher daemon.",
    "git-merge - Join two or more development histories together",
    "To start the server in the foreground, you can use the postgres command.",
    "投机解码用小模型提出若干词元，再由大模型一次验证。",
    "투기적 디코딩은 작은 모델이 제안한 토큰을 큰 모델이 한 번에 검증한다.",
]
BAD = [
    "is encoded by the integer string and then decoded by the optimizer.",
    "are used to create, drop and stream changes from a replication slot.",
    "To update data statistics used by the query planner of the server.",
    "Installation from Source Code on Windows in the old way, 19.",
    "(The check constraint will not be inherited by future children of it.)",
    "ours:: This resolves any number of heads of the branches in the list.",
    "while quantisation of the weights and of the activations in the model.",
    "The default strategy is the one that is called “manual by the users.",
    "Must be one of manual, ours, theirs, union, or the name of a driver.",
    "What is the difference between the two ways of doing it?",
    "A generic version of the containers of all the modules.",
    "Functions for number conversion and formatted output of strings.",
    "To update the map of the pages, which speeds up scans that read an index only.",
    "Documentation ▼ Document Lists And Indexes → A high-level overview of what it is.",
    "How The Pump Is Tested → The safety of the pump is achieved by careful testing.",
    "About Products Support Download Sign In Press Careers Legal Privacy Contact The Blog is here.",
    "Now let us look at the ways in which the server can be started.",
    "We will describe the parameters of the server and their default values.",
    "It is essential to understand the issues discussed in the next few subsections.",
    "见下表中列出的全部参数以及各自的默认取值范围。",
    "我们将介绍几个先决条件，然后继续进行服务器的网络配置工作。",
    "본격적으로 설치하기 전에 서버가 무엇인지 먼저 함께 알아봅시다.",
    "3 장에서는 서버의 설정 파일과 기본 구조를 자세히 설명한다.",
    "다음과 같은 매개변수를 모두 설정해야 서버가 시작된다.",
]
LEANING = [
    "The parameter can only be set at server start.",
    "In fact, the computer can be damaged and the disk is not.",
    "If set to 1, the server writes more to its log.",
    "Keep in mind that the statement is really executed.",
    "If -1 is specified, the regular limit of the server is used.",
    "In any case, the server writes more to its log.",
    "Accordingly, the operators that can be used vary.",
    "以上内容显然假设您正在使用第二种接口。",
    "这种方法不需要重新训练模型。",
    "이러한 방법은 모델을 다시 학습하지 않는다.",
]


@pytest.mark.parametrize("text", GOOD)
def test_whole_sentences_are_quotable(text: str) -> None:
    assert is_quotable(text)


@pytest.mark.parametrize("text", BAD)
def test_fragments_questions_and_pointers_are_not(text: str) -> None:
    assert not is_quotable(text)


@pytest.mark.parametrize("text", LEANING)
def test_a_sentence_that_needs_the_one_before_leans(text: str) -> None:
    assert leans(text)


@pytest.mark.parametrize("text", GOOD)
def test_a_sentence_that_stands_alone_does_not_lean(text: str) -> None:
    assert not leans(text)


@pytest.mark.parametrize(
    ("text", "helps"),
    [
        ("Threads are an appropriate model for tasks that wait for input.", True),
        ("Prefer a pool of processes when the work needs the processor.", True),
        ("可裂解连接子适合异质性的肿瘤。", True),
        ("비절단형 링커는 혈장에서 안정하다는 장점이 있다.", True),
        ("The module was written by two people.", False),
        ("模型由三部分组成。", False),
    ],
)
def test_sentences_that_help_to_choose(text: str, helps: bool) -> None:
    assert recommends(text) is helps
