"""A server that cuts prompts without a word is found out by the tokens that it says it has read."""

from pathlib import Path

import pytest

from deep_research.errors import ContextTooLong
from deep_research.providers.provider_catalog import open_model
from tests.model.harness import Scene, of_step, quickly
from tests.providers.served import KEYS, asking
from tests.support.scripted_provider import ScriptedProvider
from tests.support.scripted_replies import count_tokens


def _words(tokens: int, mark: str = "") -> str:
    return f"{mark} " + "word " * (tokens * 4 // 5)


@pytest.mark.parametrize("sizes", [(900, 2_200, 1_450), (1_450, 1_500, 2_100)])
async def test_the_same_count_of_prompts_of_different_lengths_is_the_window(sizes: tuple[int, ...]) -> None:
    with ScriptedProvider(lambda _: "Good.", reads=1_050) as provider:
        model = open_model("compatible", "m", keys=KEYS, base_url=provider.base_url)
        first, second, third = (asking(_words(n, str(n))) for n in sizes)
        assert [(await model.complete(one)).sent_tokens for one in (first, second)] == [0, 0]
        with pytest.raises(ContextTooLong) as learnt:
            await model.complete(third)
        assert (learnt.value.window, learnt.value.reason) == (1_050, "cut")
        assert learnt.value.usage, "it is paid for"
        with pytest.raises(ContextTooLong):
            await model.complete(asking(_words(1_400, "5")))
        assert (await model.complete(asking(_words(700, "6")))).text == "Good."
        await model.close()
    assert len(provider.calls) == 4, "what would be cut is not sent any more"


async def test_a_server_that_counts_wrongly_cuts_nothing() -> None:
    with ScriptedProvider(lambda _: "Good.", reads=300) as provider:
        model = open_model("compatible", "m", keys=KEYS, base_url=provider.base_url)
        for size in (700, 1_250, 2_000, 4_000):
            assert (await model.complete(asking(_words(size, str(size))))).sent_tokens == 0
        await model.close()


async def test_what_a_cache_holds_is_not_missed() -> None:
    """Some servers count only what they have newly read of a prompt: a conversation that grows is no cut one."""
    sizes = (2_000, 300, 320, 290, 310, *[300] * 8)
    turns = [_words(size, str(n)) for n, size in enumerate(sizes, 10)]
    with ScriptedProvider(lambda _: "Good.") as provider:
        model = open_model("compatible", "m", keys=KEYS, base_url=provider.base_url)
        messages = asking("").messages[:1]
        for turn in turns:
            messages = (*messages, asking(turn).messages[-1])
            provider.reads = count_tokens(turn)
            answer = await model.complete(asking().model_copy(update={"messages": messages}))
            assert answer.sent_tokens == 0
        await model.close()


def test_a_report_from_torn_prompts_says_so(scene: Scene) -> None:
    with scene.served(reads=1_050):
        report = quickly(scene.folder, docs=[_long(scene.folder / "long")]).report
    assert [gap.codes for gap in report.gaps].count(("prompt_cut",)) == 1
    assert "max_context_tokens" in report.report


def test_prompts_are_cut_to_what_a_model_of_ollama_takes(scene: Scene) -> None:
    with scene.served(wire="ollama", reads=2_200) as provider:
        report = quickly(scene.folder, wire="ollama", docs=[_long(scene.folder / "long")]).report
    assert of_step(provider, "write")
    assert max(call.counted.prompt for call in provider.calls) < 2_200
    assert not [gap for gap in report.gaps if "prompt_cut" in gap.codes]


def _long(folder: Path) -> Path:
    folder.mkdir()
    for n in range(12):
        rows = " ".join(
            f"The Alpha engine of series {n} number {k} turns at {3_000 + k} rpm in boats." for k in range(60)
        )
        (folder / f"alpha{n}.md").write_text(f"# Alpha engine {n}\n\n{rows}\n", "utf-8")
    return folder
