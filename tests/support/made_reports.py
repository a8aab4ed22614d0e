"""A report as a run makes it, made by hand: statements with every verdict, a chart, what was found and what was changed.

`make_report` gives the result, `make_input` what exporters get, `save_run` puts it into a state folder as a finished run
whose library holds the sources.
"""

import re
from contextlib import closing
from pathlib import Path

from deep_research import registry
from deep_research.data import (
    Claim,
    Document,
    Edit,
    ExportInput,
    Found,
    Gap,
    Ledger,
    PassageContext,
    Problem,
    Reference,
    Report,
    Verdict,
)
from deep_research.data.evidence import PageStart
from deep_research.data.result import Part, ReasonerInfo, ReportPassage, ReportSection, ReportSource
from deep_research.events import Event, ReportReady, RunStarted, StageStarted, Verified
from deep_research.i18n.catalog import phrase
from deep_research.safe_text import safe_noun
from deep_research.stores.open_stores import open_runs
from deep_research.stores.run_store import RunRecord, RunStore

HOSTILE = (
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "<svg onload=alert(1)>",
    "javascript:alert(1)",
    "[x](javascript:alert(1))",
    "![x](http://tracker.example/p.png)",
    "</style></title></textarea><iframe src=//evil.example>",
    '=HYPERLINK("http://evil.example","x")',
    "+cmd|' /C calc'!A0",
    "@SUM(1+1)*cmd|' /C calc'!A0",
    '#read("/etc/passwd") #eval("1")',
    "$ integral $ #set page(fill: red) `raw` @label <label> \\ *bold* _emph_ // gone",
    "\\input{/etc/passwd} \\write18{id} % gone } { ~ ^ $&#_",
    "@misc{evil, title={x}}\nTY  - BOOK\nER  - ",
    "A\u202egnp.exe\u2066 zero\u200bwidth\u00ad",
    "nul\x00 bell\x07 esc\x1b[31m sep\u2028 \ufffe",
    "<w:t>x</w:t> &amp; &lt; ]]> <!-- --> <?xml?>",
    "<a:t>{{7*7}} ${7*7} {% raw %}",
    "marks \U00010a50 of \U00010a51 ours \ue000 \ue001 [1]°",
)
SAID = "The Alpha engine turns at 3,000 rpm."
SECOND = "It is a rotary engine."
OWN = "So it suits small boats."
URL = "https://example.org/engines?a=1&b=2#top"
LONG_WORD = "engine_controller_archive_logical_replication"
RUN_ID = "20260102-030405-abcd"
_TEXTS = {
    "s1": (
        "# Alpha manual\n\n"
        "The Alpha engine was built in 1999 by Rolf Maier.\n\n"
        "The Alpha engine turns at 3,000 rpm. It is a rotary engine. It needs a filter.\n\n"
        "The Alpha engine weighs 60 kg without its oil and must not be run below 5 °C.\n"
    ),
    "s2": (
        "# Beta engine\n\n"
        "The Beta engine turns at 4,500 rpm at full load; at half load at 2,800 rpm.\n\n"
        "| Engine | Speed | Weight |\n|---|---|---|\n| Beta | 4,500 rpm | 85 kg |\n"
    ),
}
_PASSAGES = {
    "s1p1": ("s1", "The Alpha engine was built in 1999 by Rolf Maier.", 2, "Alpha manual"),
    "s1p2": ("s1", "The Alpha engine turns at 3,000 rpm. It is a rotary engine. It needs a filter.", 3, "Alpha manual"),
    "s1p3": ("s1", "The Alpha engine weighs 60 kg without its oil and must not be run below 5 °C.", 4, "Alpha manual"),
    "s2p1": ("s2", "The Beta engine turns at 4,500 rpm at full load; at half load at 2,800 rpm.", None, "Beta engine"),
    "s2p2": ("s2", "| Engine | Speed | Weight |\n|---|---|---|\n| Beta | 4,500 rpm | 85 kg |", None, "Beta engine"),
}
_MARKDOWN = """# {title}

⟨c1⟩**Take the Alpha engine for boats and the Beta engine for everything else.**⟨/⟩ ⟨c2⟩{said} [1]⟨/⟩ ⟨c3⟩{second} [1]⟨/⟩{extra}

## Alpha{extra}

⟨c4⟩The Alpha engine was built in *1999* by `Rolf Maier`. [1]⟨/⟩ ⟨c5⟩It can be run in any weather. [1]°⟨/⟩{extra}

⟨c6⟩{own}⟨/⟩

- ⟨c7⟩The Alpha engine weighs 60 kg [1].⟨/⟩
    - ⟨c8⟩The Beta engine weighs 90 kg [2]°.⟨/⟩
- Second{extra}

3. ⟨c9⟩Fill in the oil first. [1]⟨/⟩
4. fourth

```chart
{{"kind": "bar", "title": "Speed at full load", "unit": "rpm", "points": [
  {{"label": "Alpha", "value": 3000, "id": "s1p2"}},
  {{"label": "Beta", "value": 4500, "id": "s2p1"}}]}}
```

## Beta and others

| Engine | Speed | Setting |
|---|---|---|
| ⟨c10⟩Alpha | 3,000 rpm [1] | {word} |⟨/⟩
| ⟨c11⟩Beta{cell} | 4,500 rpm [2] | pg_basebackup |⟨/⟩

```
alpha = 3000
if alpha > 1:
    print('<b>')  #{extra}
```

```chart
{{"kind": "pie"}}
```

### Detail

⟨c12⟩The Beta engine was sold in 40 countries. [2]°⟨/⟩ Said of \\[1\\] and [99].{extra}

## {references}

1. **Alpha manual{extra}** — alpha.pdf · p. 3
   “{said}”

2. **Beta{extra}** — example.org

## {checked}

Twelve statements were checked; ° marks those that are not confirmed.
"""
_MARK = re.compile(r"⟨(?P<claim>c\d+)⟩|⟨/⟩")
_KINDS = {
    "c1": ("own", ()), "c2": ("supported", ("s1p2",)), "c3": ("supported", ("s1p2",)), "c4": ("supported", ("s1p1",)),
    "c5": ("misleading", ("s1p3",)), "c6": ("own", ()), "c7": ("supported", ("s1p3",)), "c8": ("contradicted", ("s2p2",)),
    "c9": ("supported", ("s1p2", "s1p3")), "c10": ("supported", ("s1p2",)), "c11": ("supported", ("s2p1",)),
    "c12": ("unverified", ("s2p1",)),
}  # fmt: skip
_REASONS = {
    "c5": "The manual says that it must not be run below 5 °C.",
    "c8": "The table says 85 kg.",
    "c12": "No passage speaks of countries.",
}


def _placed(template: str) -> tuple[str, dict[str, tuple[int, int]]]:
    """Return a text without the marks of its claims, and where these stand in it."""
    parts: list[str] = []
    places: dict[str, tuple[int, int]] = {}
    at, length, begun = 0, 0, ("", 0)
    for mark in _MARK.finditer(template):
        parts.append(template[at : mark.start()])
        length += len(parts[-1])
        at = mark.end()
        if mark["claim"]:
            begun = (mark["claim"], length)
        else:
            places[begun[0]] = (begun[1], length)
    return "".join([*parts, template[at:]]), places


def _claims(markdown: str, places: dict[str, tuple[int, int]]) -> tuple[Claim, ...]:
    made: list[Claim] = []
    for key, (start, end) in places.items():
        verdict, passages = _KINDS[key]
        said = re.sub(r"\s*\[\d+\]°?|[*`]", "", markdown[start:end]).strip(" |")
        headings = re.findall(r"(?m)^#+ (.+)$", markdown[:start])
        made.append(
            Claim(
                id=key,
                text=said,
                passages=passages,
                kind="own" if verdict == "own" else "fact",
                verdict=Verdict(kind=verdict, reason=_REASONS.get(key, ""), by_model=verdict != "own"),
                where=headings[-1].strip() if len(headings) > 1 else "",
                start=start,
                end=end,
            )
        )
    return tuple(made)


def _problems(extra: str) -> tuple[Problem, ...]:
    return (
        Problem(
            quote=f"It can be run in any weather. {extra}".strip(), kind="misleading", claim="c5", passages=("s1p3",), by="judge",
            problem="Its manual forbids cold.", evidence=f"It “must not be run below 5 °C” [s1p3]. {extra}".strip(),
        ),
        Problem(
            quote="The Beta engine turns at 2,800 rpm.", kind="unsupported", passages=("s2p1",), by="verifier",
            problem="That is its speed at half load.", evidence="4,500 rpm at full load [2].", outcome="revised",
        ),
        Problem(
            quote="", kind="missing", problem=f"What the engines cost is not told. {extra}".strip(), by="verifier",
            outcome="rejected", reply="No source tells it.",
        ),
    )  # fmt: skip


def _sources(extra: str) -> dict[str, ReportSource]:
    flat = " ".join(extra.split("\n"))
    return {
        "s1": ReportSource(
            title=f"Alpha manual {extra}", url=f"file:///home/user/{flat}.pdf", origin="documents", published="2021-05",
            retrieved_at="2026-01-02T03:04:05+00:00", sha256="a" * 64, media_type="application/pdf",
        ),
        "s2": ReportSource(
            title=f"Beta {extra}", url=URL, origin="tavily", published=None,
            retrieved_at="2026-01-02T03:04:05+00:00", sha256="b" * 64, media_type="text/html",
        ),
    }  # fmt: skip


def _passages(extra: str) -> dict[str, ReportPassage]:
    return {
        key: ReportPassage(
            source=source, text=text + f" {extra}" * bool(extra), start=_TEXTS[source].index(text),
            end=_TEXTS[source].index(text) + len(text), page=page, heading=f"{heading} {extra}".strip(),
        )
        for key, (source, text, page, heading) in _PASSAGES.items()
    }  # fmt: skip


def make_report(extra: str = "", *, language: str = "en", title: str = "Engines compared") -> Report:
    """Return a report; `extra` stands in its title, texts, sources, passages, gaps and file names."""
    flat = " ".join(extra.split("\n"))
    values = {
        "title": f"{title} {flat}".strip(), "said": SAID, "second": SECOND, "own": OWN, "extra": f" {flat}" * bool(flat), "word": LONG_WORD,
        "cell": f" {flat}".replace("|", "\\|") * bool(flat), "references": phrase("references", language), "checked": phrase("checked", language),
    }  # fmt: skip
    markdown, places = _placed(_MARKDOWN.format(**values))
    sources = _sources(extra)
    references = (
        Reference(number=1, source="s1", title=f"Alpha manual {extra}", url=sources["s1"].url, location=f"{extra} alpha.pdf",
                  published="2021-05", passages=("s1p1", "s1p2", "s1p3"), quote=SAID),
        Reference(number=2, source="s2", title=f"Beta {extra}", url=URL, location="example.org", passages=("s2p1", "s2p2")),
    )  # fmt: skip
    section = ReportSection(
        title=f"Alpha {flat}".strip(), description=extra, status="completed", notes=f"{SAID} [s1p2] {SECOND} [s1p2]",
        key_findings=(f"{SAID} {flat} [s1p2]", "Beta turns at 4,500 rpm. [s2p1]"), sources=("s1", "s2"),
        searched=("alpha engine speed",),
    )  # fmt: skip
    edits = (
        Edit(
            old="The Beta engine turns at 2,800 rpm [s2p1].",
            new="The Beta engine turns at 4,500 rpm [s2p1].",
            applied=True,
        ),
        Edit(old=f"any weather {extra}".strip(), new="weather above 5 °C", applied=False),
        Edit(old="", new="", problems=(2,), reply="No source tells it."),
    )
    return Report(
        run_id=RUN_ID, question=f"Which engine? {extra}".strip(), language=language, query_type="comparison",
        output_format="table", workflow="sections", title=f"{title} {extra}".strip(), report=markdown, sections=(section,),
        claims=_claims(markdown, places), references=references, sources=sources, passages=_passages(extra),
        gaps=(Gap(what=f"Gamma {extra}", why=f"not found {extra}"),), assumptions=(f"Boats. {extra}",),
        ledger=Ledger(seconds=1.5, searches=2, fetches=3, model_calls=7, prompt_tokens=9000, completion_tokens=1200),
        reasoner=ReasonerInfo(kind="model", provider="openai", models={"write": "gpt"}),
        parts=(Part(text=f"Which engine {extra}", answered="partly", where=(f"Alpha {flat}".strip(),)),),
        problems=_problems(extra), edits=edits,
    )  # fmt: skip


def make_input(extra: str = "", *, language: str = "en", title: str = "Engines compared") -> ExportInput:
    """Return such a report with authors and the surroundings of its passages."""
    return ExportInput(
        report=make_report(extra, language=language, title=title),
        authors={"s1": ("Maier, Rolf", f"Anna Holm {extra}"), "s2": (f"Engine Society {extra}",)},
        contexts={"s1p2": PassageContext(before=f"Before it. {extra}", after=f"After it. {extra}")},
    )


def save_run(home: Path, report: Report | None = None, *, run_id: str = RUN_ID, created: str = "") -> RunStore:
    """Put a finished run with such a report into a state folder; its sources are cut into passages by the library itself."""
    made = (report or make_report()).model_copy(update={"run_id": run_id})
    record = RunRecord(
        run_id=run_id, question=made.question, language=made.language, status="finished", title=made.title,
        created=created or "2026-01-02T03:04:05+00:00", seconds=made.ledger.seconds,
    )  # fmt: skip
    store = open_runs(home).create(record)
    with closing(store.open_library()) as library:
        keys = {name: _add_source(library, name, made) for name in _TEXTS}
    assert keys == {name: name for name in _TEXTS}
    passages = dict(made.passages)
    with closing(store.open_library()) as library:
        # The library cuts its own passages: those of the report are named as it names them.
        for source in _TEXTS:
            for passage in library.passages(source):
                if passage.id in passages:
                    values = passage.model_dump(include={"source", "text", "start", "end", "page", "heading"})
                    passages[passage.id] = ReportPassage(**values)
    store.save_result(made.model_copy(update={"passages": passages}))
    log = store.open_log(lambda _event: None)
    for event in _events(made):
        log.emit(event)
    log.close()
    return store


def _add_source(library: object, name: str, report: Report) -> str:
    told = report.sources[name]
    text = _TEXTS[name]
    # Each of its passages stands on a page of its own.
    starts = [text.index(said) for source, said, _, _ in _PASSAGES.values() if source == name]
    pages = tuple(PageStart(start=start, number=n) for n, start in enumerate([0, *starts[1:]], 2))
    document = Document(text=text, title=told.title, media_type=told.media_type, pages=pages)
    found = Found(key=told.url, title=told.title, url=told.url, origin=told.origin, published=told.published)
    source = library.add_source(found)  # type: ignore[attr-defined]
    library.add_snapshot(source.id, document, retrieved_at=told.retrieved_at)  # type: ignore[attr-defined]
    return source.id


def _events(report: Report) -> list[Event]:
    return [
        RunStarted(
            run_id=report.run_id, question=report.question, language=report.language, reasoner="model", sources=()
        ),
        StageStarted(stage="report"),
        Verified(statements=len(report.claims), problems=len(report.problems), round=1),
        ReportReady(title=report.title, path="", claims=len(report.claims), references=2, gaps=len(report.gaps)),
    ]


def exported(name: str, extra: str = "", *, language: str = "en", title: str = "Engines compared") -> bytes:
    """Return the report in a format."""
    return registry.component("exporters", name)().export(safe_noun(make_input(extra, language=language, title=title)))
